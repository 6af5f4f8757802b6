type HostileDocument = readonly [what: string, name: string, content: () => string, became: "added" | "failed"]

/** Documents that are expensive to read, with the expected outcome: eight megabytes each, or a part of that. */
export const hostileDocumentsOf = (part: number): readonly HostileDocument[] => [
  [
    "tags that close nothing",
    "a.html",
    () => `<p>Words.</p>${"<i>".repeat(1990)}${"</b>".repeat(2_000_000 * part)}`,
    "added",
  ],
  ["forms in a form", "b.html", () => `Words.<form>${"<i>".repeat(1990)}${"<form>".repeat(1_300_000 * part)}`, "added"],
  [
    "tags at the deepest place",
    "c.html",
    () => `Words.${"<i>".repeat(1990)}${"<b></b>".repeat(1_150_000 * part)}`,
    "added",
  ],
  ["nothing but brackets", "d.html", () => "<".repeat(8_000_000 * part), "added"],
  ["millions of headings", "e.md", () => "# a\n".repeat(2_000_000 * part), "failed"],
  ["millions of headings of a page", "f.html", () => "<h1>a".repeat(1_600_000 * part), "failed"],
  ["headings under long headings", "g.md", () => `${deep()}${"###### a\n".repeat(240_000 * part)}`, "failed"],
  ["short lines of JSON", "h.jsonl", () => "{}\n".repeat(2_700_000 * part), "failed"],
  ["one long line of JSON", "i.jsonl", () => `{"id": 1, "title": ${"[".repeat(8_000_000 * part)}`, "failed"],
]

export const hostileDocuments = hostileDocumentsOf(1)

const deep = () => Array.from({ length: 5 }, (_, level) => `${"#".repeat(level + 1)} ${"x".repeat(199)}\n`).join("")
