// Draws the weights of one head as a table, and says in words what a row looks at.
function cell(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

function mostAttended(columns, weights) {
  return weights
    .map((weight, j) => [weight, columns[j]])
    .sort(([one], [other]) => other - one)
    .slice(0, 3)
    .map(([weight, name]) => `${name} ${(weight / 100).toFixed(2)}`)
    .join(", ");
}

explore((view, { maps, colours }, [sentence, kind, layer, head]) => {
  const { rows, columns, weights } = maps[sentence][kind];
  const said = view.querySelector(".explore-said");
  const table = document.createElement("table");
  table.className = "explore-map";
  const top = table.createTHead().insertRow();
  top.append(cell("th", "query \u2193 key \u2192"));
  for (const name of columns) top.append(cell("th", name));
  const body = table.createTBody();
  weights[layer][head].forEach((numbers, i) => {
    const row = body.insertRow();
    row.tabIndex = 0;
    row.append(cell("th", rows[i]));
    numbers.forEach((weight, j) => {
      const made = row.insertCell();
      made.style.background = colours[Math.round((weight * 31) / 100)];
      made.title = `${rows[i]} \u2192 ${columns[j]}: ${(weight / 100).toFixed(2)}`;
    });
    const say = () => {
      said.textContent = `${rows[i]} looks at: ${mostAttended(columns, numbers)}`;
    };
    row.addEventListener("focus", say);
    row.addEventListener("mouseenter", say);
  });
  view.querySelector(".explore-frame").replaceChildren(table);
});
