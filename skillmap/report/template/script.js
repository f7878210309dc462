"use strict";
(() => {
  const order = (a, b) => {
    const x = Number(a), y = Number(b);
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en") : x - y;
  };

  const sortBy = (table, place, isDown) => {
    const key = (row) => row.cells[place].dataset.sort;
    const rows = [...table.tBodies[0].rows];
    // What is missing stays last either way.
    rows.sort((p, q) => {
      const a = key(p), b = key(q);
      if (a === "" || b === "") return (a === "") - (b === "");
      return isDown ? order(b, a) : order(a, b);
    });
    table.tBodies[0].append(...rows);
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const isDown = head.ariaSort !== "descending" &&
          (head.ariaSort === "ascending" || head.classList.contains("number"));
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
        sortBy(table, place, isDown);
      });
    });
  }

  const source = document.getElementById("pair-data");
  if (source) {
    const data = JSON.parse(source.textContent);
    const body = document.querySelector("#chosen tbody");
    const [first, second] = ["model-a", "model-b"].map((id) => {
      const select = document.getElementById(id);
      data.models.forEach((name, place) => {
        const option = new Option(name.length > 60 ? name.slice(0, 59) + "…" : name, place);
        option.title = name;
        select.add(option);
      });
      select.addEventListener("change", () => show());
      return select;
    });
    const plain = (value) => value.toFixed(3).replace("-", "−");
    const signed = (value) => (value > 0 ? "+" : "") + plain(value);

    const show = () => {
      const a = Number(first.value), b = Number(second.value);
      const isTurned = a > b;
      const rows = data.pairs[isTurned ? `${b},${a}` : `${a},${b}`] || [];
      body.replaceChildren();
      for (const [slice, n, of_a, of_b, difference, low, high] of rows) {
        const sign = isTurned ? -1 : 1;
        const bounds = isTurned ? [-high, -low] : [low, high];
        const accuracies = isTurned ? [of_b, of_a] : [of_a, of_b];
        const line = body.insertRow();
        const name = document.createElement("th");
        name.scope = "row";
        name.textContent = data.slices[slice];
        line.append(name);
        const numbers = [
          n.toLocaleString("en"), ...accuracies.map(plain),
          signed(sign * difference), `[${bounds.map(signed).join(", ")}]`,
        ];
        for (const text of numbers) {
          const cell = line.insertCell();
          cell.className = "number";
          cell.textContent = text;
        }
      }
      if (!rows.length) {
        const cell = body.insertRow().insertCell();
        cell.colSpan = 6;
        cell.className = "nothing";
        cell.textContent = a === b ? "Choose two different models." : "No common items in a slice.";
      }
    };
    [first.value, second.value] = data.start;
    show();
    document.getElementById("chooser").hidden = false;
  }

  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((part) => { part.open = true; });
  });
})();
