import { own } from "../../../core/program.ts"
import { problemOfWork } from "./work.ts"
import { postgresCatalogues, postgresFunctions } from "./functions.ts"

/**
 * Returns the reason why a parsed text is not a single statement that only reads; undefined if it is. Every node and
 * field of the tree must be listed here, so additions of later PostgreSQL versions are refused until they are reviewed.
 */
export function problemOfTree(tree: unknown): string | undefined {
  const { stmts = [] } = tree as { stmts?: { stmt?: Record<string, unknown> }[] }
  const [first, ...rest] = stmts
  if (!first?.stmt) return "there is no statement in it"
  if (rest.length > 0) return "there is more than one statement in it"
  const [type = ""] = Object.keys(first.stmt)
  if (type === "ExplainStmt") return problemOfExplain(first.stmt[type])
  if (type === "VariableShowStmt") return problemOfSetting((first.stmt[type] as { name?: string }).name)
  if (type !== "SelectStmt") return `it is a ${type.replace(/Stmt$/, "")} statement`
  return problemInside(first.stmt)
}

/** EXPLAIN and SHOW read, but cursors do not support them. */
export function needsNoCursor(tree: unknown): boolean {
  const { stmts: [first] = [] } = tree as { stmts?: { stmt?: object }[] }
  return Object.keys(first?.stmt ?? {}).some((type) => type === "ExplainStmt" || type === "VariableShowStmt")
}

function problemOfExplain(explain: unknown): string | undefined {
  const { query = {}, options = [] } = explain as { query?: object; options?: { DefElem: { defname: string } }[] }
  const [type = ""] = Object.keys(query)
  if (type !== "SelectStmt") return "EXPLAIN is open to queries that read only"
  const unknown = options.find(({ DefElem: { defname } }) => !EXPLAINS.has(defname.toLowerCase()))
  return unknown ? `EXPLAIN with ${unknown.DefElem.defname} is not open to queries` : problemInside(query)
}

function problemOfSetting(name = ""): string | undefined {
  return SETTINGS.has(name.toLowerCase()) ? undefined : `the setting ${name} is not open to queries`
}

/** The same for everything inside a node. */
export function problemInside(node: unknown): string | undefined {
  // No recursion, because the sender controls the depth of the tree.
  const left: unknown[] = [node]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next !== "object" || next === null) continue
    if (!Array.isArray(next)) {
      const problem = problemOf(next as Record<string, unknown>)
      if (problem !== undefined) return problem
    }
    for (const each of Object.values(next)) left.push(each)
  }
  return problemOfWork(node)
}

/** Checks the keys of an object: names of node types start with a capital, names of fields do not. */
function problemOf(object: Record<string, unknown>): string | undefined {
  for (const key of Object.keys(object)) {
    const why = own(FORBIDDEN, key)
    if (why) return why
    if (!(/^[A-Z]/.test(key) ? NODES : FIELDS).has(key))
      return `it holds ${/Stmt$/.test(key) ? "a statement that is no query" : `"${key}"`}, which is not known to only read`
  }
  const { FuncCall: call, RangeVar: table } = object
  if (call) return problemOfCall(call)
  return table ? problemOfTable(table) : problemOfName(object)
}

function problemOfCall(call: unknown): string | undefined {
  const { funcname = [] } = call as { funcname?: Name[] }
  const names = funcname.map(({ String: { sval } }) => sval)
  const name = names.at(-1) ?? ""
  const known = names.length === 1 || (names.length === 2 && names[0] === "pg_catalog")
  if (known && name === "current_setting") {
    const [setting] = (call as { args?: { A_Const?: { sval?: { sval?: string } } }[] }).args ?? []
    return problemOfSetting(setting?.A_Const?.sval?.sval)
  }
  return known && postgresFunctions.has(name) ? undefined : `the function ${names.join(".")} is not known to only read`
}

function problemOfTable(table: unknown): string | undefined {
  const { schemaname: schema, relname: name = "" } = table as { schemaname?: string; relname?: string }
  if (schema === "information_schema") return name.startsWith("user_mapping") ? closed(name) : undefined
  // A temporary table cannot replace a catalog by a name that starts like this.
  if (schema === undefined || schema === "pg_catalog")
    return name.startsWith("pg_") && !postgresCatalogues.has(name) ? closed(name) : undefined
  return /^pg_/.test(schema) ? closed(`${schema}.${name}`) : undefined
}

/** `OPERATOR(schema.+)` and types of other schemas call functions that users created. */
function problemOfName({ A_Expr: expression }: Record<string, unknown>): string | undefined {
  const { name } = (expression ?? {}) as { name?: Name[] }
  if (!name || name.length < 2 || name[0]?.String.sval === "pg_catalog") return undefined
  return "it names the schema of an operator"
}

interface Name {
  readonly String: { readonly sval: string }
}

const closed = (name: string) => `${name} is not open to queries`

/** Reasons as sentences, for constructs that people use. */
const FORBIDDEN: Readonly<Record<string, string>> = {
  intoClause: "SELECT … INTO makes a table",
  lockingClause: "FOR UPDATE and FOR SHARE take locks",
  InsertStmt: "it holds an INSERT",
  UpdateStmt: "it holds an UPDATE",
  DeleteStmt: "it holds a DELETE",
  MergeStmt: "it holds a MERGE",
  ParamRef: "it holds a parameter, such as $1, for which there is no value",
}

/** Settings that a query may read. None describes the server, its files or its users. */
const SETTINGS = new Set(["timezone", "datestyle", "intervalstyle", "server_version", "search_path", "client_encoding"])
const EXPLAINS = new Set([
  "analyze",
  "verbose",
  "costs",
  "buffers",
  "timing",
  "summary",
  "format",
  "wal",
  "generic_plan",
])

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

const NODES = words(`
  SelectStmt ResTarget ColumnRef A_Star A_Const A_Expr BoolExpr NullTest BooleanTest CaseExpr CaseWhen CoalesceExpr
  MinMaxExpr FuncCall NamedArgExpr WindowDef SortBy SubLink RangeVar RangeSubselect RangeFunction RangeTableSample JoinExpr
  Alias CommonTableExpr TypeCast TypeName A_ArrayExpr A_Indirection A_Indices RowExpr CollateClause GroupingSet
  GroupingFunc List String Integer Float Boolean BitString SQLValueFunction ColumnDef
  JsonFuncExpr JsonValueExpr JsonFormat JsonReturning JsonOutput JsonKeyValue JsonObjectConstructor JsonArrayConstructor
  JsonArrayQueryConstructor JsonAggConstructor JsonObjectAgg JsonArrayAgg JsonIsPredicate JsonBehavior JsonTable
  JsonTableColumn JsonTablePathSpec JsonArgument JsonParseExpr JsonScalarExpr JsonSerializeExpr
  SetToDefault MultiAssignRef IndexElem`)

const FIELDS = words(`
  targetList fromClause whereClause groupClause groupDistinct havingClause windowClause valuesLists sortClause
  limitOffset limitCount limitOption withClause op all larg rarg distinctClause name val location fields indirection
  ival fval boolval sval bsval isnull kind lexpr rexpr rexpr_list_start rexpr_list_end boolop args arg nulltesttype argisrow
  booltesttype casetype
  defresult expr result funcname agg_order agg_filter over agg_within_group agg_star agg_distinct func_variadic
  funcformat refname partitionClause orderClause frameOptions startOffset endOffset node sortby_dir sortby_nulls useOp
  subLinkType subLinkId testexpr operName subselect catalogname schemaname relname inh relpersistence alias aliasname
  colnames lateral subquery ordinality is_rowsfrom functions coldeflist relation method repeatable jointype isNatural
  quals usingClause join_using_alias rtindex ctename aliascolnames ctematerialized ctequery search_clause cycle_clause
  search_col_list search_breadth_first search_seq_column cycle_col_list cycle_mark_column cycle_mark_value
  cycle_mark_default cycle_path_column ctes recursive typeName names typeOid setof pct_type typmods typemod arrayBounds
  elements is_slice lidx uidx row_format collname content refs items row_typeid colname is_local is_not_null
  argnumber opno is_from_type colName collOid colcollate type xpr
  context_item pathspec passing output returning format format_type encoding on_empty on_error wrapper quotes column_name
  raw_expr formatted_expr key value exprs absent_on_null unique constructor distinct item_type unique_keys btype
  coerce name_location typid isTypmod coltype plan columns for_ordinality string list_start list_end typmod
  query cols selectStmt onConflictClause action infer indexElems conname override source colno ncolumns ordering nulls_ordering`)
