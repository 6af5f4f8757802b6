const of = (...names: string[]) => new Set(names)

const P = of("p")
const HEADINGS = of("h1", "h2", "h3", "h4", "h5", "h6", "p")
const FORM = of("input", "option", "optgroup", "select", "button", "datalist", "textarea")
const TERMS = of("dd", "dt")
const SECTIONS = of("thead", "tbody")

const endsP =
  "address article aside blockquote details div dl fieldset figcaption figure footer form header hr main nav ol p pre section table ul"

/** The elements that a start tag closes if they were opened last, such as an unclosed `<li>`. */
export const IMPLIED_ENDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...endsP.split(" ").map((name): [string, ReadonlySet<string>] => [name, P]),
  ...["h1", "h2", "h3", "h4", "h5", "h6"].map((name): [string, ReadonlySet<string>] => [name, HEADINGS]),
  ...["select", "input", "output", "button", "datalist", "textarea"].map((name): [string, ReadonlySet<string>] => [
    name,
    FORM,
  ]),
  ["tr", of("tr", "th", "td")],
  ["th", of("th")],
  ["td", of("thead", "th", "td")],
  ["tbody", SECTIONS],
  ["tfoot", SECTIONS],
  ["body", of("head", "link", "script")],
  ["a", of("a")],
  ["li", of("li")],
  ["option", of("option")],
  ["optgroup", of("optgroup", "option")],
  ["dd", TERMS],
  ["dt", TERMS],
  ["rt", of("rt", "rp")],
  ["rp", of("rt", "rp")],
])

/** Elements without an end tag. */
export const VOID = new Set(
  "area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr".split(
    " ",
  ),
)
