import type { Phrase } from "../../agent/phrases.ts"

/** A question about the sample database that the offline model knows the SQL of. Some are about any database. */
export interface SampleQuestion {
  readonly source: string
  readonly example: string
  sql(said: (group: string) => string): string
}

const ASK = "(?:please )?(?:what(?:'s| is| are| was| were)|show(?: me)?|list|give me|tell me)?(?: the| our| my)? ?"
const YEAR = "(?: in| for| of)?(?: (?<year>\\d{4}))?"
const THINGS: Readonly<Record<string, string>> = {
  ...{ customers: "customer", products: "product", purchases: "purchase", orders: "purchase", sales: "purchase" },
}
const THING = Object.keys(THINGS).join("|")
const REVENUE = "round(sum(line.quantity * line.price_cents) / 100.0, 2)"
const LINES = "purchase_line line JOIN purchase ON purchase.id = line.purchase_id"
const GROUPS: Readonly<Record<string, { readonly column: string; readonly join: string }>> = {
  category: { column: "product.category", join: " JOIN product ON product.id = line.product_id" },
  product: { column: "product.name", join: " JOIN product ON product.id = line.product_id" },
  country: { column: "customer.country", join: " JOIN customer ON customer.id = purchase.customer_id" },
  city: { column: "customer.city", join: " JOIN customer ON customer.id = purchase.customer_id" },
  customer: { column: "customer.name", join: " JOIN customer ON customer.id = purchase.customer_id" },
}
const GROUP = Object.keys(GROUPS).join("|")
const PERIODS: Readonly<Record<string, string>> = { year: "%Y", month: "%Y-%m", day: "%Y-%m-%d" }
const PERIOD = Object.keys(PERIODS).join("|")

const inYear = (year: string) => (year ? ` WHERE purchase.bought_on LIKE '${year}-%'` : "")
const thing = (said: string) => THINGS[said.toLowerCase()] ?? "purchase"
const period = (said: string) => `strftime('${PERIODS[said.toLowerCase()] ?? "%Y-%m"}', purchase.bought_on)`
const text = (said: string) => `'${said.trim().replaceAll("'", "''")}'`
const name = (said: string) =>
  `"${said
    .trim()
    .replaceAll(/^["'`]|["'`]$/g, "")
    .replaceAll('"', '""')}"`

function revenueBy(group: string, year: string, limit = ""): string {
  const { column, join } = GROUPS[group.toLowerCase()] ?? { column: "product.name", join: "" }
  const label = group.toLowerCase()
  return `SELECT ${column} AS ${label}, ${REVENUE} AS revenue FROM ${LINES}${join}${inYear(year)} GROUP BY ${column} ORDER BY revenue DESC${limit}`
}

export const sampleQuestions: readonly SampleQuestion[] = [
  {
    source:
      "how many (?:different )?customers (?:are|live|do we have)?(?: there)? ?(?:in|from) (?<country>[\\p{L} ]{2,40})",
    example: "how many customers are from Portugal?",
    sql: (said) => `SELECT count(*) AS customers FROM customer WHERE lower(country) = lower(${text(said("country"))})`,
  },
  {
    source: `how many (?<thing>${THING})(?: are there| do we have| did we have| were there)?${YEAR}`,
    example: "how many customers are there?",
    sql: (said) => {
      const [table, year] = [thing(said("thing")), said("year")]
      const where = table === "purchase" ? inYear(year) : ""
      return `SELECT count(*) AS ${said("thing").toLowerCase()} FROM ${table}${where}`
    },
  },
  {
    source: `(?:how much did we (?:sell|earn|make)|${ASK}total (?:revenue|sales|turnover))${YEAR}`,
    example: "what is the total revenue in 2025?",
    sql: (said) => `SELECT ${REVENUE} AS revenue FROM ${LINES}${inYear(said("year"))}`,
  },
  {
    source: `${ASK}average (?:purchase|order|sale)(?: value)?${YEAR}`,
    example: "what is the average purchase value?",
    sql: (said) =>
      `SELECT round(avg(total) / 100.0, 2) AS average FROM (SELECT sum(line.quantity * line.price_cents) AS total FROM ${LINES}${inYear(said("year"))} GROUP BY purchase.id) AS purchases`,
  },
  {
    source: `(?:who are )?${ASK}(?:top|best|biggest)(?: (?<most>\\d{1,3}))?(?: selling)? (?<group>customer|product|categor|countr|cit)(?:s|y|ies)?(?: by revenue)?${YEAR}`,
    example: "top 5 products by revenue",
    sql: (said) => {
      const group = { categor: "category", countr: "country", cit: "city" }[said("group").toLowerCase()]
      return revenueBy(group ?? said("group"), said("year"), ` LIMIT ${Number(said("most") || 5)}`)
    },
  },
  {
    source: `${ASK}(?:revenue|sales|turnover) (?:by|per|for each|over|each) (?<period>${PERIOD})s?${YEAR}`,
    example: "revenue by month in 2025",
    sql: (said) =>
      `SELECT ${period(said("period"))} AS ${said("period").toLowerCase()}, ${REVENUE} AS revenue FROM ${LINES}${inYear(said("year"))} GROUP BY 1 ORDER BY 1`,
  },
  {
    source: `${ASK}(?:revenue|sales|turnover) (?:by|per|for each|each) (?<group>${GROUP})${YEAR}`,
    example: "revenue by category",
    sql: (said) => revenueBy(said("group"), said("year")),
  },
  {
    source: `(?:how many|${ASK}(?:number of )?)? ?(?:purchases|orders|sales) (?:by|per|for each|each|over) (?<period>${PERIOD})s?${YEAR}`,
    example: "purchases per month",
    sql: (said) =>
      `SELECT ${period(said("period"))} AS ${said("period").toLowerCase()}, count(*) AS purchases FROM purchase${inYear(said("year"))} GROUP BY 1 ORDER BY 1`,
  },
  {
    source: `(?:how many|${ASK}(?:number of )?)? ?customers (?:by|per|in each|for each) (?<group>country|city)`,
    example: "customers by country",
    sql: (said) => {
      const column = said("group").toLowerCase()
      return `SELECT ${column}, count(*) AS customers FROM customer GROUP BY ${column} ORDER BY customers DESC, ${column}`
    },
  },
  {
    source:
      'how many rows (?:are in|does|has|are there in)(?: the)?(?: table)? (?<table>[\\w"]{1,60})(?: table| have)?',
    example: "how many rows are in customer?",
    sql: (said) => `SELECT count(*) AS "rows" FROM ${name(said("table"))}`,
  },
  {
    source:
      '(?:show|list)(?: me)?(?: the)?(?: first (?<most>\\d{1,4}))? (?:rows (?:of|from|in)|table)(?: the)?(?: table)? (?<table>[\\w"]{1,60})',
    example: "show the first 5 rows of product",
    sql: (said) => `SELECT * FROM ${name(said("table"))} LIMIT ${Number(said("most") || 10)}`,
  },
]

/** What the offline model takes for a question to `ask_database`: the words themselves. */
export const askPhrases: readonly Phrase[] = sampleQuestions.map(({ source, example }) => ({
  pattern: new RegExp(`(?<query>${source})`, "u"),
  arguments: ({ query = "" }) => ({ query }),
  example,
}))

/** And what it writes when it is asked for the statement. */
export const sqlPhrases: readonly Phrase[] = sampleQuestions.map(({ source, example, sql }) => ({
  pattern: new RegExp(source, "u"),
  arguments: (groups) => ({ sql: sql((group) => groups[group] ?? "") }),
  example,
}))
