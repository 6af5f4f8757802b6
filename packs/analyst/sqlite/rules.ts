import { constants } from "node:sqlite"

/**
 * SQLite asks for permission for each part of a statement while it compiles it, also inside views and triggers. Only
 * actions that are known to read are allowed, so additions of later versions are refused.
 */
export function authorize(action: number, first: string | null, second: string | null): number {
  switch (action) {
    case constants.SQLITE_READ:
      return PAGES.has(first?.toLowerCase() ?? "") ? constants.SQLITE_DENY : constants.SQLITE_OK
    case constants.SQLITE_SELECT:
    case constants.SQLITE_RECURSIVE:
      return constants.SQLITE_OK
    case constants.SQLITE_FUNCTION:
      return allowed(FUNCTIONS, second)
    case constants.SQLITE_PRAGMA:
      return second === null && INDEX_PRAGMAS.has(first ?? "") ? constants.SQLITE_OK : allowed(PRAGMAS, first)
    default:
      return constants.SQLITE_DENY
  }
}

function allowed(names: ReadonlySet<string>, name: string | null): number {
  return names.has(name?.toLowerCase() ?? "") ? constants.SQLITE_OK : constants.SQLITE_DENY
}

/** Tables that expose the pages of a file instead of its contents. */
const PAGES = new Set(["dbstat", "sqlite_dbpage"])

/** Pragmas that describe tables. They can also be used as `SELECT * FROM pragma_table_info('t')`. */
const PRAGMAS = new Set([
  ...["table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list"],
])

/** Pragmas that full-text indexes run before they read. */
const INDEX_PRAGMAS = new Set(["data_version", "page_size"])

/**
 * Missing on purpose: load_extension, fts3_tokenizer and optimize have side effects; sqlite_… describe this program.
 */
const FUNCTIONS = new Set([
  ...["abs", "changes", "char", "coalesce", "concat", "concat_ws", "format", "glob", "hex", "if", "ifnull", "iif"],
  ...["instr", "last_insert_rowid", "length", "like", "likelihood", "likely", "lower", "ltrim", "max", "min", "nullif"],
  ...["octet_length", "printf", "quote", "random", "randomblob", "replace", "round", "rtrim", "sign", "soundex"],
  ...["substr", "substring", "total_changes", "trim", "typeof", "unhex", "unicode", "unistr", "unistr_quote"],
  ...["unlikely", "upper", "zeroblob", "subtype", "regexp", "match", "highlight", "snippet", "bm25", "offsets"],
  ...["avg", "count", "group_concat", "string_agg", "sum", "total", "median", "percentile", "percentile_cont"],
  ...["percentile_disc", "cume_dist", "dense_rank", "first_value", "lag", "last_value", "lead", "nth_value", "ntile"],
  ...["percent_rank", "rank", "row_number"],
  ...["current_date", "current_time", "current_timestamp", "date", "datetime", "julianday", "strftime", "time"],
  ...["timediff", "unixepoch"],
  ...["acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "ceiling", "cos", "cosh", "degrees", "exp"],
  ...["floor", "ln", "log", "log10", "log2", "mod", "pi", "pow", "power", "radians", "sin", "sinh", "sqrt", "tan"],
  ...["tanh", "trunc"],
  ...["json", "json_array", "json_array_insert", "json_array_length", "json_each", "json_error_position"],
  ...["json_extract", "json_group_array", "json_group_object", "json_insert", "json_object", "json_patch"],
  ...["json_pretty", "json_quote", "json_remove", "json_replace", "json_set", "json_tree", "json_type", "json_valid"],
  ...["jsonb", "jsonb_array", "jsonb_array_insert", "jsonb_each", "jsonb_extract", "jsonb_group_array"],
  ...["jsonb_group_object", "jsonb_insert", "jsonb_object", "jsonb_patch", "jsonb_remove", "jsonb_replace"],
  ...["jsonb_set", "jsonb_tree", "->", "->>"],
])
