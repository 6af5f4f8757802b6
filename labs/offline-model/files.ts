import { type Group, type Phrase, phrase } from "./phrase.ts"

const PATH = "(?<path>[^ ]+|[\"'`“].+[\"'`”])"
const path = (group: Group) => ({ path: group("path") })
const search = (group: Group) => ({ pattern: group("pattern"), path: group("path") })
/** A file ends with a line break. */
const ended = (text: string) => (text.endsWith("\n") ? text : `${text}\n`)

/** Plain requests about the files of a folder. */
export const filePhrases: readonly Phrase[] = [
  phrase(
    "list_directory",
    "(?:list|ls)(?: (?:me|all|the|my|files|directory|folder|contents|everything|of|in|here))*(?: (?<path>[^ ]*[./][^ ]*))?",
    path,
  ),
  phrase(
    "list_directory",
    "show(?: me)?(?: all)?(?: the| my)? (?:files|folder|directory)(?: (?:in|of) (?<path>.+))?",
    path,
  ),
  phrase(
    "list_directory",
    "(?:list|ls)(?: the)?(?: files)? (?:in|of)(?: the)?(?: folder| directory)? (?<path>.+)",
    path,
  ),
  phrase("list_directory", "what(?:'s| is| files are)(?: in)?(?: here| this folder| there)"),
  phrase("list_directory", "what(?:'s| is) in (?<path>.+)", path),

  phrase("read_file", `(?:read|cat|open|print)(?: me)?(?: the)?(?: (?:file|contents? of))? ${PATH}`, path),
  phrase("read_file", "show(?: me)?(?: the)?(?: (?:file|contents? of))? (?<path>[^ ]*[./][^ ]*)", path),

  phrase(
    "git_diff",
    "(?:show(?: me)?(?: the)? )?(?:git diff|git status|diff|changes)(?: (?:of|in) (?<path>[^ ]+))?",
    path,
  ),
  phrase("git_diff", "what (?:has |have (?:i|you|we) )?changed"),
  phrase("git_diff", "(?:what is|show(?: the)?) staged(?: changes)?", () => ({ staged: true })),
  phrase("git_log", "(?:show(?: me)?(?: the)? )?(?:git log|git history|commits|log)(?: of (?<path>[^ ]+))?", path),
  phrase("git_log", "(?:who|what) (?:last )?changed (?<path>[^ ]+)", path),

  phrase("search_in_files", "which files (?:contain|mention|have) (?<pattern>.+?)\\??", search),
  phrase("search_in_files", "where is (?<pattern>.+) (?:used|mentioned|defined)", search),
  phrase(
    "search_in_files",
    "(?:search|grep|look)(?: for)? (?<pattern>[\"'`“][^\"'`”]+[\"'`”]|[^ ]+)(?: in (?<path>[^ ]+))?",
    search,
  ),
  phrase("search_in_files", "(?:search|grep|look)(?: for)? (?<pattern>.+?) in (?<path>[^ ]+)", search),
  phrase(
    "find_files",
    "find(?: me)?(?: all)?(?: the)?(?: files)?(?: (?:named|called|like|matching))? (?<pattern>[^ ]+)(?: files)?(?: in (?<path>[^ ]+))?",
    search,
  ),
  phrase("find_files", "where is (?<pattern>[^ ]+\\.[^ ]+)", search),

  phrase(
    "create_directory",
    "(?:create|make|mkdir|add)(?: an?| the)?(?: new)?(?: directory| folder| dir)(?: called| named)? (?<path>[^ ]+)",
    path,
  ),
  phrase(
    "write_file",
    "(?:create|make|write)(?: me)?(?: a)?(?: new)?(?: file)?(?: called| named)? (?<path>[^ ]+) (?:with|containing|saying)(?: the (?:text|content))? (?<content>.+)",
    (group) => ({ path: group("path"), content: ended(group("content")) }),
  ),
  phrase("write_file", "write (?<content>.+?) (?:to|into) (?<path>[^ ]+)", (group) => ({
    path: group("path"),
    content: ended(group("content")),
  })),
  phrase(
    "write_file",
    "(?:create|make|touch)(?: an?)?(?: new)?(?: empty)? file(?: called| named)? (?<path>[^ ]+)",
    (group) => ({ path: group("path"), content: "\n" }),
  ),
  phrase(
    "edit_file",
    "(?:replace|change)(?<all> all| every)? (?<old>.+?) (?:with|by|to) (?<text>.+) in (?<path>[^ ]+)|in (?<where>[^ ]+),? (?:replace|change) (?<from>.+?) (?:with|by|to) (?<into>.+)",
    (group) => ({
      path: group("path") || group("where"),
      old_text: group("old") || group("from"),
      new_text: group("text") || group("into"),
      all: group("all") !== "" || undefined,
    }),
  ),
  phrase(
    "move_file",
    "(?:move|rename|mv)(?: the)?(?: file| directory)? (?<from>[^ ]+) (?:to|into|as) (?<to>[^ ]+)",
    (group) => ({
      from: group("from"),
      to: group("to"),
    }),
  ),
  phrase(
    "delete_entry",
    `(?:delete|remove|rm|rmdir)(?: the)?(?: empty)? (?:link|symlink|directory|folder|dir|pipe|socket) ${PATH}`,
    path,
  ),
  phrase("delete_file", `(?:delete|remove|rm)(?: the)?(?: file)? ${PATH}`, path),
  phrase("run_command", "run(?: the)?(?: command)?:? (?<command>.+)", (group) => ({ command: group("command") })),
]
