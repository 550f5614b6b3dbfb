"use strict";
(() => {
  const label = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("output");
  input.type = "search";
  input.placeholder = "docker pinned syscall";
  label.append("Rows with all of these words: ", input, " ", count);
  label.className = "filter";
  document.querySelector("main").prepend(label);
  const groups = (body) => {
    let title = null;
    return [...body.rows].map((row) => {
      if (row.classList.contains("group")) title = row;
      return [row, title === row ? null : title];
    });
  };
  const bodies = [...document.querySelectorAll("tbody")].map(groups);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter((word) => word);
    let shown = 0;
    let all = 0;
    for (const rows of bodies) {
      const titles = new Set();
      for (const [row, title] of rows) {
        if (row.classList.contains("group")) continue;
        const text = ((title ? title.textContent + " " : "") + row.textContent).toLowerCase();
        const found = words.every((word) => text.includes(word));
        row.hidden = !found;
        all += 1;
        shown += found ? 1 : 0;
        if (found && title) titles.add(title);
      }
      for (const [row] of rows) if (row.classList.contains("group")) row.hidden = !titles.has(row);
    }
    count.textContent = words.length ? `${shown} of ${all} rows` : "";
  });
})();
