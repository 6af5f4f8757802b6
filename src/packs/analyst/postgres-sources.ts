/** Who decides what a column gets: the statement, the column's own default, or the moment in which it runs. */
export type Source = "stated" | "default" | "moving"

interface Select {
  readonly valuesLists?: readonly { readonly List: { readonly items?: readonly Node[] } }[]
  readonly targetList?: readonly Target[]
  readonly fromClause?: unknown
  readonly withClause?: unknown
  readonly larg?: Select
}

type Node = Readonly<Record<string, unknown>>

interface Target {
  readonly ResTarget: { readonly name?: string; readonly val?: Node }
}

export interface InsertTree {
  readonly selectStmt?: { readonly SelectStmt: Select }
  readonly withClause?: unknown
}

/** By place, for the columns that an INSERT fills; undefined where a `*` leaves open how many these are. */
export function sourcesOfInsert({ selectStmt, withClause }: InsertTree): Source[] | undefined {
  if (!selectStmt) return []
  const select = selectStmt.SelectStmt
  if (select.valuesLists) {
    const lists = select.valuesLists.map(({ List: { items = [] } }) => items)
    const places = lists[0] ?? []
    // Where one row leaves it to the default, the column is not compared in the others either.
    return places.map((_, place) => strongest(lists.map((items) => sourceOf(items[place]))))
  }
  let first = select
  while (first.larg) first = first.larg
  const targets = first.targetList ?? []
  if (targets.some(({ ResTarget: { val } }) => isStar(val))) return undefined
  // A value that moves may come out of any part of these.
  const moving = isMoving(withClause) || isMoving(select.fromClause) || isMoving(select.withClause)
  const combined = first !== select && isMoving(select)
  return targets.map(({ ResTarget: { val } }) => (moving || combined ? "moving" : sourceOf(val)))
}

export interface SetColumn {
  readonly name: string
  readonly source: Source
}

/** What a list of assignments sets, each column once. `moves`: so does whatever an expression takes from elsewhere. */
export function setsOf(list: readonly Target[], moves: (expression: unknown) => boolean): SetColumn[] {
  const sets = new Map<string, Source>()
  for (const {
    ResTarget: { name, val },
  } of list) {
    if (name === undefined) continue
    const source = moves(val) ? "moving" : sourceOf(val)
    sets.set(name, strongest([source, sets.get(name) ?? source]))
  }
  return [...sets].map(([name, source]) => ({ name, source }))
}

/** The columns of the row that was to be added, as an expression of ON CONFLICT names them. */
export function excludedColumns(expression: unknown): string[] {
  const names = JSON.stringify(expression ?? null).matchAll(EXCLUDED)
  return [...names].map(([, name = ""]) => name)
}

const EXCLUDED = /"fields":\[\{"String":\{"sval":"excluded"\}\},\{(?:"String":\{"sval":"((?:[^"\\]|\\.)*)"|"A_Star")/g

/** Whether a value somewhere inside is another one each time: the time, chance, a counter. */
export function isMoving(node: unknown): boolean {
  const left: unknown[] = [node]
  for (let next = left.pop(); left.length > 0 || next !== undefined; next = left.pop()) {
    if (typeof next !== "object" || next === null) continue
    const { FuncCall: call, SQLValueFunction: word, A_Const: constant } = next as Moving
    if (call && FUNCTIONS.test(call.funcname?.at(-1)?.String.sval ?? "")) return true
    if (word && /_(?:CURRENT_(?:DATE|TIME)|LOCALTIME)/.test(word.op ?? "")) return true
    if (constant?.sval && WORDS.test(constant.sval.sval ?? "")) return true
    left.push(...Object.values(next))
  }
  return false
}

interface Moving {
  readonly FuncCall?: { readonly funcname?: readonly { readonly String: { readonly sval: string } }[] }
  readonly SQLValueFunction?: { readonly op?: string }
  readonly A_Const?: { readonly sval?: { readonly sval?: string } }
}

const FUNCTIONS =
  /^(?:now|random\w*|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|age|\w*uuid\w*|nextval|currval|lastval|txid_\w+|pg_current_\w+)$/
/** What PostgreSQL reads as a time where one is wanted. */
const WORDS = /^\s*(?:now|today|tomorrow|yesterday)(?:\s+[\d:.+-]+)?\s*$/i

const sourceOf = (node: Node | undefined): Source =>
  node && "SetToDefault" in node ? "default" : isMoving(node) ? "moving" : "stated"

const strongest = (sources: readonly Source[]): Source =>
  sources.includes("moving") ? "moving" : sources.includes("default") ? "default" : "stated"

function isStar(node: Node | undefined): boolean {
  const { fields = [] } = (node?.ColumnRef ?? {}) as { fields?: readonly object[] }
  return fields.some((field) => "A_Star" in field)
}
