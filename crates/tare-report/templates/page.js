"use strict";
(() => {
  const bodies = [...document.querySelectorAll("tbody")];
  if (bodies.length === 0) return;
  const label = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("output");
  input.type = "search";
  input.placeholder = "docker pinned syscall";
  label.append("Filter rows: ", input, " ", count);
  label.className = "filter";
  const main = document.querySelector("main");
  const sections = [...main.querySelectorAll("section")];
  main.prepend(label);
  const grouped = (body) => {
    let title = null;
    return [...body.rows].map((row) => {
      if (row.classList.contains("group")) title = row;
      return [row, title === row ? null : title];
    });
  };
  const tables = bodies.map((body) => [body, grouped(body)]);
  const folds = [...document.querySelectorAll("main details")];
  /* Which of them the reader had opened, from when a filter opens others. */
  let opened = null;
  const unfold = (filters) => {
    opened ??= new Set(folds.filter((fold) => fold.open));
    const found = (fold) => filters && fold.querySelector("tbody tr:not([hidden])") !== null;
    for (const fold of folds) fold.open = opened.has(fold) || found(fold);
    if (!filters) opened = null;
  };
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter((word) => word);
    let shown = 0;
    let all = 0;
    for (const [body, rows] of tables) {
      const titles = new Set();
      let some = false;
      for (const [row, title] of rows) {
        if (row.classList.contains("group")) continue;
        const text = ((title ? title.textContent + " " : "") + row.textContent).toLowerCase();
        const found = words.every((word) => text.includes(word));
        row.hidden = !found;
        all += 1;
        shown += found ? 1 : 0;
        some ||= found;
        if (found && title) titles.add(title);
      }
      for (const [row] of rows) if (row.classList.contains("group")) row.hidden = !titles.has(row);
      body.closest(".scroll").hidden = !some;
    }
    /* What is looked for are rows: nothing else stands between them. */
    main.classList.toggle("filtered", words.length > 0);
    for (const section of sections) section.hidden = words.length > 0 && section.querySelector("tbody tr:not([hidden])") === null;
    unfold(words.length > 0);
    count.textContent = words.length ? `${shown} of ${all} rows` : "";
  });
})();
