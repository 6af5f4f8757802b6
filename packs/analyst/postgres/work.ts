import { type Bound, boundOf, problemOfLength } from "./counts.ts"

/**
 * Estimates what the planner does with a parsed text before it runs. A planner copies: a WITH query that is read once
 * is inlined, `BETWEEN` duplicates its left side, and a backend that copies checks neither time-outs nor cancel
 * requests. A few hundred characters can keep it busy for hours, so the copies are counted first.
 */
export function problemOfWork(tree: unknown): string | undefined {
  const work = new PostgresWork(timesNamed(tree))
  try {
    work.expression(tree, { scope: new Map(), nodes: 1, length: 1 }, 0)
  } catch (error) {
    if (error instanceof TooMuchWork) return error.message
    throw error
  }
  return undefined
}

const MAX = {
  /** Nesting of queries, after named ones are inlined. */
  levels: 50,
  /** Tables, queries and functions in FROM. */
  sources: 100,
  /** Nodes of expressions, after they are copied to where they are used. */
  nodes: 50_000,
  /** The grouping sets of CUBE, ROLLUP and GROUPING SETS. */
  groupings: 256,
  /** Depth of the tree, which has two levels for each level of an expression. */
  depth: 1500,
}

class TooMuchWork extends Error {}

/** The cost of an expression or a source: its nodes, and the largest value that it can create. */
interface Weight {
  readonly nodes: number
  readonly length: number
}

/** The meanings of column names, and the named queries. */
interface Known extends Weight {
  readonly scope: ReadonlyMap<string, Source>
}

interface Source extends Weight {
  readonly levels: number
}

type Node = Readonly<Record<string, unknown>>

const TABLE: Source = { nodes: 1, length: 1, levels: 0 }

class PostgresWork {
  readonly #named: ReadonlyMap<string, number>
  #sources = 0
  #nodes = 0
  #length = 0

  constructor(named: ReadonlyMap<string, number>) {
    this.#named = named
  }

  /** An expression, or a list of them. */
  expression(node: unknown, known: Known, depth: number): Weight {
    if (typeof node !== "object" || node === null) return { nodes: 0, length: 1 }
    if (depth > MAX.depth) throw new TooMuchWork("it is nested too deep")
    if (Array.isArray(node)) return together(node.map((each) => this.expression(each, known, depth + 1)))
    const { SelectStmt: query, ColumnRef: column, A_Expr: compared, FuncCall: call, TypeCast: cast } = node as Node
    if (query) return this.#query(query as Node, known, depth).whole
    if (column) return { nodes: known.nodes, length: known.length }
    if (compared) return this.#compared(compared as Node, known, depth)
    const inside = together(Object.values(node).map((each) => this.expression(each, known, depth + 1)))
    // Only objects with a type name are nodes; the others are their fields.
    const nodes = inside.nodes + (/^[A-Z]/.test(Object.keys(node)[0] ?? "") ? 1 : 0)
    const bound = call ? callBound(call as Node) : cast ? typeBound(cast as Node) : undefined
    if (typeof bound === "string") throw new TooMuchWork(bound)
    return { nodes, length: bound ? this.#made(bound, inside.length) : inside.length }
  }

  /** Adds the size of a value that is computed before the query starts: all these values exist at once. */
  #made(bound: Bound, given: number): number {
    const length = bound.multiplies ? bound.most * given : bound.most
    this.#length += length
    const problem = problemOfLength(bound, this.#length)
    if (problem) throw new TooMuchWork(problem)
    return length
  }

  /**
   * `a BETWEEN b AND c` becomes `a >= b AND a <= c`, with SYMMETRIC both ways; `a IN (b, c)` becomes `a = b OR a = c`.
   */
  #compared(compared: Node, known: Known, depth: number): Weight {
    const [left, right] = [compared.lexpr, compared.rexpr].map((side) => this.expression(side, known, depth + 2)) as [
      Weight,
      Weight,
    ]
    const kind = String(compared.kind)
    const isBetween = kind.includes("BETWEEN")
    const copies = kind.endsWith("BETWEEN_SYM") ? 4 : isBetween ? 2 : kind === "AEXPR_IN" ? listed(compared.rexpr) : 1
    const nodes = 1 + left.nodes * copies + right.nodes * (kind.endsWith("BETWEEN_SYM") ? 2 : 1)
    return this.#counted({ nodes, length: Math.max(left.length, right.length) })
  }

  #counted(weight: Weight): Weight {
    if (weight.nodes > MAX.nodes)
      throw new TooMuchWork("its expressions come to too much once they are copied to where they are used")
    return weight
  }

  #query(query: Node, outer: Known, depth: number): { source: Source; whole: Weight } {
    const scope = new Map(outer.scope)
    this.#name(query, { ...outer, scope }, depth)
    if (query.larg || query.rarg) {
      const sides = [query.larg, query.rarg].map((side) =>
        this.#query((side ?? {}) as Node, { ...outer, scope }, depth + 1),
      )
      const levels = Math.max(...sides.map(({ source }) => source.levels))
      const { length } = together(sides.map(({ source }) => source))
      return { source: this.#deeper({ nodes: 1, length, levels }), whole: together(sides.map(({ whole }) => whole)) }
    }
    let from: Source = { nodes: outer.nodes, length: outer.length, levels: 0 }
    for (const each of listOf(query.fromClause)) from = this.#from(each, from, { ...outer, scope }, depth + 2)
    const known = { scope, nodes: from.nodes, length: from.length }
    if (groupingsOf(query.groupClause) > MAX.groupings)
      throw new TooMuchWork(`it groups in more than ${MAX.groupings} ways`)
    const { fromClause: _, withClause: __, targetList, ...rest } = query
    const targets = listOf(targetList).map((target) => this.expression(target, known, depth + 2))
    const others = Object.values(rest).map((part) => this.expression(part, known, depth + 1))
    const whole = together([...targets, ...others])
    this.#nodes += whole.nodes
    this.#counted({ nodes: this.#nodes, length: 1 })
    const length = Math.max(1, ...targets.map((target) => target.length))
    // A query with these clauses is not inlined.
    const stays = ["groupClause", "distinctClause", "limitCount", "limitOffset", "havingClause", "windowClause"].some(
      (part) => query[part],
    )
    const nodes = stays ? 1 : Math.max(1, ...targets.map((target) => target.nodes))
    return { source: this.#deeper({ nodes, length, levels: from.levels + 1 }), whole }
  }

  #deeper(source: Source): Source {
    if (source.levels > MAX.levels)
      throw new TooMuchWork(`it has queries inside each other more than ${MAX.levels} deep`)
    return source
  }

  /** `WITH`: a query is inlined where it is used, unless it is used several times or is materialized explicitly. */
  #name(query: Node, known: Known & { scope: Map<string, Source> }, depth: number): void {
    const { ctes, recursive } = (query.withClause ?? {}) as { ctes?: unknown[]; recursive?: boolean }
    for (const { CommonTableExpr: named } of listOf(ctes) as { CommonTableExpr?: Node }[]) {
      if (!named) continue
      const name = String(named.ctename)
      if (recursive) known.scope.set(name, TABLE)
      const { source } = this.#query(((named.ctequery as Node)?.SelectStmt ?? {}) as Node, known, depth + 4)
      const isKept = recursive || String(named.ctematerialized).endsWith("Always") || (this.#named.get(name) ?? 0) > 1
      known.scope.set(name, isKept ? { ...TABLE, length: source.length } : source)
    }
  }

  /** Adds a source to the previous ones. */
  #from(node: unknown, before: Source, outer: Known, depth: number): Source {
    if (depth > MAX.depth) throw new TooMuchWork("it is nested too deep")
    const { RangeVar: table, RangeSubselect: query, JoinExpr: join, ...rest } = (node ?? {}) as Node
    if (join) {
      const { larg, rarg, quals } = join as Node
      const left = this.#from(larg, before, outer, depth + 2)
      const both = this.#from(rarg, left, outer, depth + 2)
      this.#nodes += this.expression(quals, { ...outer, nodes: both.nodes, length: both.length }, depth + 2).nodes
      return both
    }
    if (++this.#sources > MAX.sources)
      throw new TooMuchWork(`it reads from more than ${MAX.sources} tables and queries`)
    const known = { scope: outer.scope, nodes: before.nodes, length: before.length }
    const source = table
      ? ((table as Node).schemaname === undefined && outer.scope.get(String((table as Node).relname))) || TABLE
      : query
        ? this.#query((((query as Node).subquery as Node)?.SelectStmt ?? {}) as Node, known, depth + 4).source
        : { ...TABLE, length: this.expression(rest, known, depth + 1).length }
    return {
      nodes: Math.max(before.nodes, source.nodes),
      length: Math.max(before.length, source.length),
      levels: Math.max(before.levels, source.levels),
    }
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function together(parts: readonly Weight[]): Weight {
  let [nodes, length] = [0, 1]
  for (const part of parts) {
    nodes += part.nodes
    length = Math.max(length, part.length)
  }
  return { nodes, length }
}

/** How often `IN` compares its left side. */
function listed(list: unknown): number {
  const items = listOf((list as { List?: { items?: unknown[] } })?.List?.items)
  // Constants are combined into one array.
  return items.filter((item) => !(item as Node).A_Const).length + 1
}

/** How often each name is used in FROM. */
function timesNamed(tree: unknown): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  const left: unknown[] = [tree]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next !== "object" || next === null) continue
    const { relname } = ((next as Node).RangeVar ?? {}) as { relname?: string }
    if (relname !== undefined) times.set(relname, (times.get(relname) ?? 0) + 1)
    for (const each of Object.values(next)) left.push(each ?? null)
  }
  return times
}

function callBound(call: Node): Bound | string | undefined {
  const name = (listOf(call.funcname).at(-1) as { String?: { sval?: string } } | undefined)?.String?.sval ?? ""
  return boundOf(name, listOf(call.args))
}

function typeBound(cast: Node): Bound | undefined {
  const { names, typmods } = (cast.typeName ?? {}) as { names?: { String?: { sval?: string } }[]; typmods?: unknown[] }
  const name = names?.at(-1)?.String?.sval ?? ""
  const [most] = listOf(typmods) as { A_Const?: { ival?: { ival?: number } } }[]
  // These types are padded with blanks or zeros.
  if (name !== "bpchar" && name !== "bit") return undefined
  return { name: `${name}(…)`, most: most?.A_Const?.ival?.ival ?? 1, multiplies: false }
}

function groupingsOf(groups: unknown): number {
  let product = 1
  for (const { GroupingSet: set } of listOf(groups) as { GroupingSet?: { kind: string; content?: unknown[] } }[]) {
    if (!set) continue
    const content = listOf(set.content)
    if (set.kind === "GROUPING_SET_CUBE") product *= 2 ** content.length
    else if (set.kind === "GROUPING_SET_ROLLUP") product *= content.length + 1
    else if (set.kind === "GROUPING_SET_SETS")
      product *= content.reduce<number>((sum, each) => sum + groupingsOf([each]), 0) || 1
  }
  return product
}
