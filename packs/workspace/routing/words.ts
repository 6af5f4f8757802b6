/** Words that indicate the table a request is about. An ambiguous word is listed under both tables. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  task: [
    ...["task", "tasks", "subtask", "subtasks", "todo", "todos", "to-do", "to-dos", "chore", "chores", "reminder"],
    ...["reminders", "due", "overdue", "deadline", "deadlines", "upcoming", "schedule", "calendar", "agenda"],
    ...["comment", "comments", "assign", "assigned", "assignee", "assignees", "unassigned", "priority", "priorities"],
    ...["prioritize", "prioritise", "urgent", "backlog", "done", "finished", "attività", "compiti", "rappel", "fällig"],
  ],
  project: ["project", "projects", "archive", "archived", "unarchive"],
  checkpoint: [
    ...["checkpoint", "checkpoints", "milestone", "milestones", "deadline", "deadlines", "due", "overdue", "upcoming"],
    ...["schedule", "calendar", "agenda", "done", "finished", "jalon", "jalons", "hito", "hitos", "fällig"],
  ],
  note: ["note", "notes", "memo", "memos", "jot", "wrote", "written", "minutes", "nota", "notas", "appunti"],
  client: ["client", "clients", "customer", "customers", "company", "companies", "industry", "contact", "contacts"],
}

/** Prefixes, for languages that inflect or join words, and for ids. */
const BEGINNINGS: Readonly<Record<string, readonly string[]>> = {
  task: ["task_", "cmt_", "aufgabe", "erinner", "termin", "tâche", "tarea", "tarefa", "recordatorio", "задач"],
  project: ["proj_", "projekt", "projet", "proyecto", "projeto", "progett", "проект"],
  checkpoint: ["chk_", "meilenstein", "termin", "marco", "pietr", "этап"],
  note: ["note_", "notiz", "anotaci", "anota", "заметк"],
  client: ["cli_", "kunde", "cliente", "clienti", "клиент"],
}

/** Phrases, and words of languages without spaces. */
const PHRASES: Readonly<Record<string, readonly string[]>> = {
  task: [
    ...[" to do list ", " remind me ", " i need to ", " i have to ", " i must ", " remember to ", " not forget "],
    ...[" in progress ", " working on ", " remember that ", " remember the ", "任务", "待办", "タスク"],
  ],
  project: [" working on ", "项目", "プロジェクト"],
  checkpoint: ["里程碑"],
  note: [
    ...[" write down ", " take down ", " note down ", " i write ", " remember that ", " remember the ", "笔记", "メモ"],
  ],
  client: ["客户", "顧客"],
}

const byName = new Map<string, string[]>()
for (const [profile, names] of Object.entries(NAMES))
  for (const name of names) byName.set(name, [...(byName.get(name) ?? []), profile])

/** The words of a text in lower case. */
export function lowercaseWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_-]*/gu) ?? []
}

/** The profiles that these words name, each with the word that names it. */
export function namedProfiles(words: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  const note = (profile: string, by: string) => void (found.has(profile) || found.set(profile, by))
  for (const word of words) {
    for (const profile of byName.get(word) ?? []) note(profile, word)
    for (const [profile, beginnings] of Object.entries(BEGINNINGS)) {
      const beginning = beginnings.find((each) => word.startsWith(each))
      if (beginning) note(profile, beginning.replace("_", ""))
    }
  }
  const line = ` ${words.join(" ")} `
  for (const [profile, phrases] of Object.entries(PHRASES)) {
    const phrase = phrases.find((each) => line.includes(each))
    if (phrase) note(profile, phrase.trim())
  }
  return found
}

/** The start of a title or subject, which may contain any word: `rename Website to Client portal`. */
const TITLE =
  /["“”„«‘`:]|(?<![\p{L}\p{N}])'|(?<![\p{L}\p{N}])(?:called|named|titled|about|for|saying|says|regarding|namens|über)(?![\p{L}\p{N}])|(?<=(?:^|[^\p{L}])(?:rename|change|call)(?!\p{L}).{1,80}) to /iu

/** Returns the text before any title or subject. */
export function headOf(text: string): string {
  const at = text.search(TITLE)
  return at < 0 ? text : text.slice(0, at)
}

const POINTING = new Set([
  ...["it", "its", "them", "they", "those", "these", "both", "same", "again", "former", "latter", "rest"],
  ...["first", "second", "third", "fourth", "fifth", "last", "1st", "2nd", "3rd", "other", "others", "too", "another"],
  ...["also", "instead", "es", "sie", "ihn", "davon", "dazu", "erste", "ersten", "zweite", "zweiten", "letzte"],
  ...["letzten", "auch", "celui-ci", "celle-ci", "deuxième", "première", "aussi", "eso", "esa", "ese", "segunda"],
])
/** Words that refer to earlier messages only if no noun follows. */
const POINTING_LAST = new Set(["that", "this", "one", "ones", "there", "so", "das"])
const CARRYING_ON = /^(?:and|what about|how about|yes|no|ok|okay|actually|now|then|und|et|y) /

/** True if the text refers to previous messages. */
export function pointsBack(words: readonly string[]): boolean {
  const line = `${words.join(" ")} `
  return (
    words.some((word) => POINTING.has(word)) ||
    POINTING_LAST.has(words.at(-1) ?? "") ||
    / (?:that|this|which) one /.test(` ${line}`) ||
    CARRYING_ON.test(line)
  )
}

const ADDING = new Set([
  ...["add", "put", "create", "make", "attach", "write", "log", "plan", "book", "record", "insert", "open", "start"],
  ...["save", "store", "draft", "keep"],
])
const JOINING = /(?:[,;.!?\n]|(?<![\p{L}\p{N}])(?:and|then|also|plus|und|et|y)(?![\p{L}\p{N}]))+/iu

/** True if a part of the request adds something without naming it: "create a project Website and add a logo to it". */
export function addsUnnamed(text: string): boolean {
  return text.split(JOINING).some((part) => {
    const words = lowercaseWords(part)
    return words.slice(0, 2).some((word) => ADDING.has(word)) && namedProfiles(words).size === 0
  })
}
