import { own } from "../../core/shared/text/json.ts"
import { type Group, type Phrase, phrase } from "./phrase.ts"

/** A question about the sample database whose SQL the offline model knows. Some are about any database. */
interface SampleQuestion {
  readonly source: string
  sql(group: Group): string
}

const ASK = "(?:please )?(?:(?:what(?:'s| is| are| was| were)|show(?: me)?|list|give me|tell me) )?(?:(?:the|our|my) )?"
const YEAR = "(?: in| for| of)?(?: (?<year>\\d{4}))?"
const THINGS: Readonly<Record<string, string>> = {
  ...{ customers: "customer", products: "product", purchases: "purchase", orders: "purchase", sales: "purchase" },
}
const THERE = "(?: are there| do we have| did we have| were there)?"
/** It asks for all there are, and is no place. */
const ALL = "(?: in (?:total|all|the (?:database|shop|sample)))?"
const LINES = "purchase_line line JOIN purchase ON purchase.id = line.purchase_id"
const CENTS = "sum(line.quantity * line.price_cents)"
const ORDER = "purchase|order|sale|basket"

interface Measure {
  readonly said: RegExp
  readonly column: string
  readonly sql: string
}

const REVENUE: Measure = { said: /revenue|sales|turnover/i, column: "revenue", sql: `round(${CENTS} / 100.0, 2)` }
/** Measures that a request can ask for: in total, by group or over time. The first one whose words match is used. */
const MEASURES: readonly Measure[] = [
  {
    said: new RegExp(`^average (?:${ORDER})`, "i"),
    column: "average",
    sql: `round(${CENTS} / 100.0 / count(DISTINCT purchase.id), 2)`,
  },
  { said: /sold$/i, column: "units", sql: "sum(line.quantity)" },
  { said: /purchases|orders/i, column: "purchases", sql: "count(DISTINCT purchase.id)" },
  REVENUE,
]
const MEASURE = `(?<measure>average (?:${ORDER})(?: values?)?|(?:(?:number of )?(?:units|items|pieces|products)|quantity) sold|(?:number of |how many )?(?:purchases|orders)|(?:total )?(?:revenue|sales|turnover))`

const CUSTOMER = " JOIN customer ON customer.id = purchase.customer_id"
const PRODUCT = " JOIN product ON product.id = line.product_id"
const GROUPS = [
  { name: "category", column: "product.category", join: PRODUCT },
  { name: "product", column: "product.name", join: PRODUCT },
  { name: "country", column: "customer.country", join: CUSTOMER },
  { name: "city", column: "customer.city", join: CUSTOMER },
  { name: "customer", column: "customer.name", join: CUSTOMER },
] as const
/** `categories` and `category` are one. */
const GROUP = "(?<group>customer|product|categor|countr|cit)(?:s|y|ies)?"
const MONTH = "%Y-%m"
const PERIODS: Readonly<Record<string, string>> = { year: "%Y", month: MONTH, day: "%Y-%m-%d" }
const PERIOD = "(?<period>year|month|day|time)s?"

const inYear = (year: string) => (year ? ` WHERE purchase.bought_on LIKE '${year}-%'` : "")
const thing = (said: string) => own(THINGS, said.toLowerCase()) ?? "purchase"
const text = (said: string) => `'${said.trim().replaceAll("'", "''")}'`
const name = (said: string) =>
  `"${said
    .trim()
    .replaceAll(/^["'`]|["'`]$/g, "")
    .replaceAll('"', '""')}"`

const measure = (said: string): Measure => MEASURES.find((each) => each.said.test(said.trim())) ?? REVENUE

function byGroup(measured: Measure, said: string, year: string, limit = ""): string {
  const { name, column, join } = GROUPS.find((each) => each.name.startsWith(said.toLowerCase())) ?? GROUPS[0]
  return `SELECT ${column} AS ${name}, ${measured.sql} AS ${measured.column} FROM ${LINES}${join}${inYear(year)} GROUP BY ${column} ORDER BY ${measured.column} DESC${limit}`
}

function byPeriod({ column, sql }: Measure, said: string, year: string): string {
  const named = own(PERIODS, said.toLowerCase())
  const [name, format] = named ? [said.toLowerCase(), named] : ["month", MONTH]
  return `SELECT strftime('${format}', purchase.bought_on) AS ${name}, ${sql} AS ${column} FROM ${LINES}${inYear(year)} GROUP BY 1 ORDER BY 1`
}

const sampleQuestions: readonly SampleQuestion[] = [
  {
    source:
      "how many (?:different )?customers (?:are|live|do we have)?(?: there)? ?(?:in|from) (?!(?:total|all|the (?:database|shop|sample))\\b)(?<country>[\\p{L} ]{2,40})",
    sql: (said) => `SELECT count(*) AS customers FROM customer WHERE lower(country) = lower(${text(said("country"))})`,
  },
  {
    // Only dated rows can be counted by year.
    source: `how many (?:(?<thing>customers|products)${THERE}${ALL}|(?<dated>purchases|orders|sales)${THERE}(?:${YEAR}|${ALL}))`,
    sql: (said) => {
      const asked = (said("thing") || said("dated")).toLowerCase()
      return `SELECT count(*) AS ${asked} FROM ${thing(asked)}${inYear(said("year"))}`
    },
  },
  {
    source: `(?:how much did we (?:sell|earn|make)|${ASK}${MEASURE})${YEAR}`,
    sql: (said) => {
      const { column, sql } = measure(said("measure"))
      return `SELECT ${sql} AS ${column} FROM ${LINES}${inYear(said("year"))}`
    },
  },
  {
    source: `(?:who (?:are|is) )?${ASK}(?:top|best|biggest)(?: (?<most>\\d{1,3}))?(?: selling)? ${GROUP}(?: by ${MEASURE})?${YEAR}`,
    sql: (said) =>
      byGroup(measure(said("measure")), said("group"), said("year"), ` LIMIT ${Number(said("most") || 5)}`),
  },
  {
    source: `${ASK}${MEASURE} (?:by|per|for each|over|each) ${PERIOD}${YEAR}`,
    sql: (said) => byPeriod(measure(said("measure")), said("period"), said("year")),
  },
  {
    source: `${ASK}${MEASURE} (?:by|per|for each|each) ${GROUP}${YEAR}`,
    sql: (said) => byGroup(measure(said("measure")), said("group"), said("year")),
  },
  {
    source: `${ASK}(?:(?<most>\\d{1,3}) )?(?<end>cheapest|most expensive) products?`,
    sql: (said) => {
      const order = said("end").toLowerCase() === "cheapest" ? "price" : "price DESC"
      return `SELECT name AS product, category, price_cents / 100.0 AS price FROM product ORDER BY ${order}, name LIMIT ${Number(said("most") || 5)}`
    },
  },
  {
    source: `(?:how many|${ASK}(?:number of )?)? ?customers (?:by|per|in each|for each) (?<group>country|city)`,
    sql: (said) => {
      const column = said("group").toLowerCase()
      return `SELECT ${column}, count(*) AS customers FROM customer GROUP BY ${column} ORDER BY customers DESC, ${column}`
    },
  },
  {
    source:
      'how many rows (?:are in|does|has|are there in)(?: the)?(?: table)? (?<table>[\\w"]{1,60})(?: table| have)?',
    sql: (said) => `SELECT count(*) AS "rows" FROM ${name(said("table"))}`,
  },
  {
    source:
      '(?:show|list)(?: me)?(?: the)?(?: first (?<most>\\d{1,4}))? (?:rows (?:of|from|in)|table)(?: the)?(?: table)? (?<table>[\\w"]{1,60})',
    sql: (said) => `SELECT * FROM ${name(said("table"))} LIMIT ${Number(said("most") || 10)}`,
  },
]

const KIND = "(?<kind>(?:bar|column|line|area|pie|donut|scatter) )?"
const CHART = "(?:chart|graph|plot|diagram)"
const IT = "(?:it|that|this|the result|the last result)"
const DRAW = "(?:please )?(?:draw|make|show)(?: me)? an?"
const chartOfResult = (group: Group) => ({ query: `a ${kind(group)}chart of the result` })
const chartOfQuestion = (group: Group) => {
  const question = group("question")
  return { query: `a ${kind(group)}chart of ${question}`, question }
}
const kind = (group: Group) => (group("kind") ? `${group("kind")} ` : "")

/** Requests about the last result: they are offered once there is one. */
export const chartRequests = ["draw a chart of it", "show it as a line chart", "plot it"]

/** Questions about the sample database, and charts of a result or a question. */
export const analystPhrases: readonly Phrase[] = [
  phrase("ask_analyst", `${DRAW} ${KIND}${CHART}(?: of ${IT})?`, chartOfResult),
  phrase("ask_analyst", `(?:please )?(?:draw|plot|chart|graph|show) ${IT}(?: as)? an? ${KIND}${CHART}`, chartOfResult),
  phrase("ask_analyst", `(?:please )?(?:draw|plot|chart|graph) ${IT}`, chartOfResult),
  phrase("ask_analyst", `${DRAW} ${KIND}${CHART} (?:of|for|with) (?<question>.+)`, chartOfQuestion),
  phrase("ask_analyst", "(?:please )?(?:chart|plot|graph) (?<question>.+)", chartOfQuestion),
  phrase("ask_analyst", `(?<question>.+?),? (?:as|in|with) an? ${KIND}${CHART}`, chartOfQuestion),
  ...sampleQuestions.flatMap(({ source, sql }) => [
    phrase("ask_database", `(?<query>${source})`, (group) => ({ query: group("query") })),
    phrase("write_sql", source, (group) => ({ sql: sql(group) })),
  ]),
]
