// Answers of the producer and expectations of the consumer; README.md has the details.
export const FRESH_MS = 10_000;
export const BIG = 8000;
export const NAMES = 50;
export const NO_ROUTE = 150;
export const PATIENCE_MS = 400;
export const NOBODY = "/interop-nobody";

/** The content of the Data that answers a name with this last component for this time. */
export function expected(last, count) {
  const content = `${last} ${count}`;
  return last === "big" ? content.padEnd(BIG, "x") : content;
}
