/** The source of a column's value: the statement, the column's default, or the time of the run (`moving`). */
export type ValueSource = "stated" | "default" | "moving"

interface Select {
  readonly valuesLists?: readonly { readonly List: { readonly items?: readonly Node[] } }[]
  readonly targetList?: readonly Target[]
  readonly fromClause?: unknown
  readonly withClause?: unknown
  readonly larg?: Select
  readonly rarg?: Select
}

type Node = Readonly<Record<string, unknown>>

interface Target {
  readonly ResTarget: { readonly name?: string; readonly val?: Node }
}

export interface InsertTree {
  readonly selectStmt?: { readonly SelectStmt: Select }
  readonly withClause?: unknown
}

/** The sources of the columns of an INSERT. */
export interface InsertSources {
  /** By position. */
  readonly places: readonly ValueSource[]
  /** A `*` fills an unknown number of further columns. */
  readonly open: boolean
  /** Sources of values: WITH and FROM. */
  readonly around: unknown
}

/**
 * If one row, or one SELECT of several, sets a column to its default or the current time, the column is not compared in
 * the others either.
 */
export function sourcesOfInsert({ selectStmt, withClause }: InsertTree): InsertSources {
  const selects = selectStmt ? combined(selectStmt.SelectStmt) : []
  const rows = selects.flatMap(({ valuesLists, targetList = [] }): (Node | undefined)[][] =>
    valuesLists
      ? valuesLists.map(({ List: { items = [] } }) => [...items])
      : [targetList.map(({ ResTarget: { val } }) => val)],
  )
  const known = rows.map((row) => (row.some(isStar) ? row.slice(0, row.findIndex(isStar)) : row))
  const width = Math.max(0, ...known.map((row) => row.length))
  return {
    places: Array.from({ length: width }, (_, place) =>
      strongest(known.flatMap((row) => (place < row.length ? [sourceOf(row[place])] : []))),
    ),
    open: rows.some((row) => row.some(isStar)),
    around: [withClause, ...selects.map((select) => [select.fromClause, select.withClause])],
  }
}

/** The parts of a UNION (or INTERSECT, EXCEPT), and their shared clauses. */
function combined(select: Select): Select[] {
  const { larg, rarg, withClause } = select
  return larg && rarg ? [{ withClause, targetList: [] }, ...combined(larg), ...combined(rarg)] : [select]
}

export interface SetColumn {
  readonly name: string
  readonly source: ValueSource
  /** The columns of the conflicting new row (`excluded`) that it uses. */
  readonly taken: readonly string[]
}

/** The columns that a list of assignments sets, each once. */
export function setsOf(list: readonly Target[]): SetColumn[] {
  const sets = new Map<string, SetColumn>()
  for (const {
    ResTarget: { name, val },
  } of list) {
    if (name === undefined) continue
    const value = assigned(val)
    const { source, taken } = sets.get(name) ?? { source: "stated", taken: [] }
    const known = strongest([source, sourceOf(value)])
    sets.set(name, { name, source: known, taken: [...taken, ...excludedColumns(value)] })
  }
  return [...sets.values()]
}

/** The expression for this column in `(a, b) = (1, now())`. */
function assigned(val: Node | undefined): Node | undefined {
  const { source, colno = 1 } = (val?.MultiAssignRef ?? {}) as { source?: Node; colno?: number }
  const { args } = (source?.RowExpr ?? {}) as { args?: readonly Node[] }
  return args?.[colno - 1] ?? val
}

/** The columns of `excluded` that an expression of ON CONFLICT uses. */
function excludedColumns(expression: unknown): string[] {
  const names = JSON.stringify(expression ?? null).matchAll(EXCLUDED)
  return [...names].map(([, name = ""]) => name)
}

const EXCLUDED = /"fields":\[\{"String":\{"sval":"excluded"\}\},\{(?:"String":\{"sval":"((?:[^"\\]|\\.)*)"|"A_Star")/g

/**
 * True if the expression contains a value that differs at each run: time, random, a sequence. `passOver` ignores parts
 * that only select by such a value: a SELECT's conditions, or a WHEN.
 */
export function isMoving(node: unknown, passOver = false): boolean {
  const left: unknown[] = [node]
  for (let next = left.pop(); left.length > 0 || next !== undefined; next = left.pop()) {
    if (typeof next !== "object" || next === null) continue
    const { FuncCall: call, SQLValueFunction: word, A_Const: constant } = next as Moving
    if (call && FUNCTIONS.test(call.funcname?.at(-1)?.String.sval ?? "")) return true
    if (word && /_(?:CURRENT_(?:DATE|TIME)|LOCALTIME)/.test(word.op ?? "")) return true
    if (constant?.sval && WORDS.test(constant.sval.sval ?? "")) return true
    const { SubLink: _, CaseWhen: choice, ...others } = next as Moving
    left.push(...Object.values(passOver ? { ...others, result: choice?.result } : next))
  }
  return false
}

interface Moving {
  readonly FuncCall?: { readonly funcname?: readonly { readonly String: { readonly sval: string } }[] }
  readonly SQLValueFunction?: { readonly op?: string }
  readonly A_Const?: { readonly sval?: { readonly sval?: string } }
  readonly SubLink?: unknown
  readonly CaseWhen?: { readonly result?: unknown }
}

const FUNCTIONS =
  /^(?:now|random\w*|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|age|\w*uuid\w*|nextval|currval|lastval|txid_\w+|pg_current_\w+)$/
/** Words that PostgreSQL accepts as a time. */
const WORDS = /^\s*(?:now|today|tomorrow|yesterday)(?:\s+[\d:.+-]+)?\s*$/i

const sourceOf = (node: Node | undefined): ValueSource =>
  node && "SetToDefault" in node ? "default" : isMoving(node, true) ? "moving" : "stated"

const strongest = (sources: readonly ValueSource[]): ValueSource =>
  sources.includes("moving") ? "moving" : sources.includes("default") ? "default" : "stated"

function isStar(node: Node | undefined): boolean {
  const { fields = [] } = (node?.ColumnRef ?? {}) as { fields?: readonly object[] }
  const { indirection = [] } = (node?.A_Indirection ?? {}) as { indirection?: readonly object[] }
  return [...fields, ...indirection].some((field) => "A_Star" in field)
}
