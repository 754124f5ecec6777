"use strict";
const rows = [...document.querySelectorAll("section[data-row]")];
const columns = JSON.parse(document.body.dataset.columns);
const headings = JSON.parse(document.body.dataset.headings);
let saved = true;

function value(row, column) {
  const fixed = row.querySelector(`[data-column="${column}"]`);
  if (fixed) return fixed.dataset.cell;
  const chosen = row.querySelector(`input[data-choice="${column}"]:checked`);
  if (chosen) return chosen.value;
  const typed = row.querySelector(`[data-free="${column}"]`);
  if (!typed) return "";
  return /^[=+\-@\t\r]/.test(typed.value) ? `'${typed.value}` : typed.value;
}

function quoted(cell) {
  return `"${cell.replaceAll('"', '""')}"`;
}

function csv() {
  const lines = [headings, ...rows.map((row) => columns.map((column) => value(row, column)))];
  return "\ufeff" + lines.map((cells) => cells.map(quoted).join(",") + "\r\n").join("");
}

function progress() {
  const done = rows.filter((row) => value(row, "class") !== "").length;
  document.getElementById("done").textContent = `${done} / ${rows.length}`;
}

document.addEventListener("change", () => {
  saved = false;
  progress();
});

document.addEventListener("keydown", (event) => {
  const group = document.activeElement && document.activeElement.closest("fieldset");
  const place = "123456789".indexOf(event.key);
  if (!group || place < 0 || event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return;
  const choices = [...group.querySelectorAll('input[type="radio"]')];
  if (place >= choices.length) return;
  event.preventDefault();
  choices[place].checked = true;
  saved = false;
  progress();
  const groups = [...document.querySelectorAll("fieldset")];
  const following = groups[groups.indexOf(group) + 1];
  if (following) following.querySelector("input").focus();
});

document.getElementById("save").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
  link.download = document.body.dataset.file;
  link.click();
  saved = true;
});

window.addEventListener("beforeunload", (event) => {
  if (!saved) event.preventDefault();
});

progress();
