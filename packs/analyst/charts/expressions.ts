import { parseExpression } from "vega"
import { chartLimits as limits } from "./limits.ts"
import { specPath, refuse } from "./problem.ts"
import type { FoundExpression } from "./rules.ts"

interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

/** Functions for numbers, dates and texts only. No regular expressions, because their time has no bound. */
const FUNCTIONS = new Set([
  ...[
    "if",
    "isValid",
    "isNumber",
    "isString",
    "isDate",
    "isDefined",
    "isNaN",
    "isFinite",
    "toNumber",
    "toString",
    "toDate",
  ],
  ...["abs", "ceil", "floor", "round", "sqrt", "pow", "exp", "log", "min", "max", "clamp", "sin", "cos", "tan"],
  ...[
    "year",
    "quarter",
    "month",
    "date",
    "day",
    "dayofyear",
    "week",
    "hours",
    "minutes",
    "seconds",
    "time",
    "datetime",
    "utc",
  ],
  ...["utcyear", "utcquarter", "utcmonth", "utcdate", "utcday", "utchours", "utcminutes", "utcseconds", "now"],
  ...["length", "lower", "upper", "trim", "substring", "slice", "indexof", "truncate", "inrange"],
  ...["format", "timeFormat", "utcFormat", "monthFormat", "monthAbbrevFormat", "dayFormat", "dayAbbrevFormat"],
])

const CONSTANTS = new Set(["PI", "E", "SQRT2", "LN2", "LN10", "LOG2E", "LOG10E", "NaN"])
/** Names that are defined in labels of axes and legends. */
const OF_GUIDES: ReadonlySet<unknown> = new Set(["axis", "legend", "header"])
const OF_LABELS = ["label", "value", "index"]
const OPERATORS = new Set(["+", "-", "*", "/", "%", "==", "!=", "===", "!==", "<", "<=", ">", ">=", "!", "&&", "||"])
const MAX_NODES = 300

/**
 * Throws for an expression that does more than read a row; `known`: its columns, `params`: the constants of the chart.
 */
export function checkExpression(
  { text, path }: FoundExpression,
  known: ReadonlySet<string>,
  params: ReadonlySet<string>,
): void {
  const place = specPath(path)
  if (text.length > limits.expression)
    refuse(`the expression at ${place} is longer than ${limits.expression} characters`)
  let nodes = 0
  const columns = path.some((word) => OF_GUIDES.has(word)) ? new Set(OF_LABELS) : known
  const no = (what: string): never => refuse(`the expression at ${place} may not use ${what}; ${ADVICE}`)

  const look = (node: Node | null | undefined): void => {
    if (!node) return
    if (++nodes > MAX_NODES) refuse(`the expression at ${place} is too long`)
    switch (node.type) {
      case "Literal":
        if (node.value instanceof RegExp || "regex" in node) no("a regular expression")
        return
      case "Identifier":
        if (!params.has(String(node.name)) && !CONSTANTS.has(String(node.name))) no(JSON.stringify(node.name))
        return
      case "MemberExpression":
        return lookAtColumn(node)
      case "CallExpression":
        return lookAtCall(node)
      case "UnaryExpression":
        if (!OPERATORS.has(String(node.operator))) no(String(node.operator))
        return look(node.argument as Node)
      case "BinaryExpression":
      case "LogicalExpression":
        if (!OPERATORS.has(String(node.operator))) no(String(node.operator))
        look(node.left as Node)
        return look(node.right as Node)
      case "ConditionalExpression":
        for (const part of [node.test, node.consequent, node.alternate]) look(part as Node)
        return
      case "ArrayExpression":
        return (node.elements as Node[]).forEach(look)
      default:
        no(node.type)
    }
  }

  const lookAtColumn = ({ object, property, computed }: Node): void => {
    const { type, name } = object as Node
    if (type !== "Identifier" || name !== "datum") no("anything inside of a value")
    const { type: how, value, name: identifier } = property as Node
    if (computed && (how !== "Literal" || typeof value !== "string")) no("a name that is computed")
    const column = String(computed ? value : identifier)
    if (!columns.has(column))
      refuse(`the expression at ${place} names the column ${JSON.stringify(column)}, and there is none`)
  }

  const lookAtCall = ({ callee, arguments: given }: Node): void => {
    const { type, name } = callee as Node
    if (type !== "Identifier" || !FUNCTIONS.has(String(name)))
      no(name ? `the function ${JSON.stringify(name)}` : "a function of a value")
    const [, form] = given as Node[]
    if (/format$/i.test(String(name)) && form && (form.type !== "Literal" || /\d{3}/.test(String(form.value))))
      no("that format")
    ;(given as Node[]).forEach(look)
  }

  look(parse(text, place))
}

const ADVICE = "name columns as datum.name, and do what that cannot in SQL"

function parse(text: string, place: string): Node {
  try {
    return parseExpression(text) as unknown as Node
  } catch (error) {
    return refuse(`the expression at ${place} cannot be read: ${(error as Error).message.slice(0, 200)}`)
  }
}
