"""How a reader is spoken to: language, decimal sign and grouping of the country, money."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

from slaverify.errors import Text

_POINT = ("MX", "US", "GB", "GT", "HN", "NI", "SV", "DO", "PA", "PR", "PE")
"""Countries of the product's languages that write a decimal point."""


@dataclass(frozen=True, slots=True)
class Speech:
    """Language `es` or `en` of the reader; `locale` of the contract; `currency` ISO 4217 or null."""

    language: str
    locale: str
    currency: str | None = None

    @property
    def spanish(self) -> bool:
        """Whether the reader reads Spanish."""
        return self.language != "en"

    def t(self, es: str, en: str) -> str:
        """Return one of two sentences."""
        return es if self.spanish else en

    def say(self, text: Text) -> str:
        """Return a text in the reader's language."""
        return text.in_language(self.language)

    def number(self, value: Decimal) -> str:
        """Return a number with the decimal sign and the groups of the country."""
        digits = f"{value:,f}"
        if self._points():
            return digits
        return digits.translate(str.maketrans(",.", ".,"))

    def count(self, value: int) -> str:
        """Return a count with its groups."""
        return self.number(Decimal(value))

    def percent(self, share: Decimal) -> str:
        """Return a share in [0, 1] as a percentage, no zeros at its end."""
        scaled = (share * 100).normalize()
        if scaled == scaled.to_integral_value():
            scaled = scaled.quantize(Decimal(1))
        return f"{self.number(scaled)} %"

    def money(self, amount: Decimal) -> str:
        """Return an amount with its currency; cents only where there are some."""
        exact = amount.quantize(Decimal("0.01"), ROUND_HALF_EVEN)
        if exact == exact.to_integral_value():
            exact = exact.quantize(Decimal(1))
        return f"{self.currency or ''} {self.number(exact)}".strip()

    def of_hundred(self, share: float) -> str:
        """Return a probability as a count of a hundred; never 0 or 100 for what is not."""
        times = round(100 * share)
        if times == 100 and share < 1:
            return self.t("más de 99", "more than 99")
        if times == 0 and share > 0:
            return self.t("menos de 1", "fewer than 1")
        return str(times)

    def _points(self) -> bool:
        if self.language != self.locale[:2]:
            return not self.spanish
        return self.locale[-2:] in _POINT
