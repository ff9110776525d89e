// Adds a filter to every long table. Without scripts the page has everything but the filters.
for (const table of document.querySelectorAll("table")) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 16) continue;
  const box = document.createElement("input");
  box.type = "search";
  box.placeholder = `Filter ${rows.length} rows`;
  box.setAttribute("aria-label", `Filter the rows: ${table.parentElement.getAttribute("aria-label") || ""}`);
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/);
    for (const row of rows) row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
  });
  table.parentElement.before(box);
}
// A link to something folded unfolds it.
const unfold = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target) for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
};
addEventListener("hashchange", unfold);
unfold();
