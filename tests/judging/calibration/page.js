// Runs the script of a label page over a document of plain objects, fills it in, and prints the CSV that it saves.
"use strict";
const fs = require("fs");
const vm = require("vm");
const given = JSON.parse(fs.readFileSync(0, "utf-8"));
const heard = {};
const saved = [];

function section(row) {
  const fixed = row.fixed.map((one) => ({ dataset: { column: one.column, cell: one.cell } }));
  const radios = row.choices.map((one) => ({ dataset: { choice: one.choice }, value: one.value, group: one.choice, checked: false, focus() {} }));
  const free = row.free.map((name) => ({ dataset: { free: name }, value: "" }));
  return {
    dataset: { row: row.row },
    radios,
    free,
    querySelector(selector) {
      let match = /^\[data-column="(.+)"\]$/.exec(selector);
      if (match) return fixed.find((one) => one.dataset.column === match[1]) || null;
      match = /^input\[data-choice="(.+)"\]:checked$/.exec(selector);
      if (match) return radios.find((one) => one.dataset.choice === match[1] && one.checked) || null;
      match = /^\[data-free="(.+)"\]$/.exec(selector);
      return free.find((one) => one.dataset.free === match[1]) || null;
    },
  };
}

const rows = given.rows.map(section);
const done = { textContent: "" };
const groups = [];
rows.forEach((row) => {
  new Set(row.radios.map((one) => one.group)).forEach((name) => {
    const own = row.radios.filter((one) => one.group === name);
    groups.push({ own, querySelectorAll: () => own, querySelector: () => own[0] });
  });
});
const document = {
  body: { dataset: { columns: given.columns, headings: given.headings, file: "hoja.csv" } },
  activeElement: null,
  querySelectorAll: (selector) => (selector === "fieldset" ? groups : rows),
  getElementById: (id) => (id === "done" ? done : { addEventListener: (_, act) => (heard.save = act) }),
  addEventListener: (kind, act) => (heard[kind] = act),
  createElement: () => ({ click() {} }),
};
class Blob {
  constructor(parts) {
    saved.push(parts.join(""));
  }
}
const context = { document, window: { addEventListener() {} }, URL: { createObjectURL: () => "blob:" }, Blob };
vm.runInNewContext(given.script, context);
given.keys.forEach(([group, key]) => {
  document.activeElement = { closest: () => groups[group] };
  heard.keydown({ key, preventDefault() {} });
});
given.typed.forEach(([row, name, text]) => {
  rows[row].free.find((one) => one.dataset.free === name).value = text;
});
heard.save();
process.stdout.write(JSON.stringify({ csv: saved[0], done: done.textContent }));
