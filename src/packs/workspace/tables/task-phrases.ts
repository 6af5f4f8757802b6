import type { Phrase } from "../../../agent/definition/phrases.ts"
import { given, tablePhrase, type GroupText } from "./phrase.ts"
import { oneTask } from "../speech/new-tasks.ts"
import { readWords } from "../speech/words.ts"
import { own } from "../../../protocol/own.ts"

const STATES: Record<string, string> = {
  ...{ open: "todo", todo: "todo", "to do": "todo", "in progress": "in_progress", started: "in_progress" },
  ...{ done: "done", finished: "done", completed: "done", complete: "done" },
}
const STATE = Object.keys(STATES).join("|")
const stateOf = (said: string) => own(STATES, said.toLowerCase())
const MINE = "(?: all)?(?: of)?(?: my| the)? ?"
const WHICH = "(?: (?:in|of|for)(?: the| my)? project (?<project>.+))?"

export const listTasksPhrases: readonly Phrase[] = [
  tablePhrase(
    `(?:list|show|give|what are)(?: me)?${MINE}(?:(?<state>${STATE}) )?tasks${WHICH}`,
    "list my tasks",
    (text) => given({ status: stateOf(text("state")), project_id: text("project") }),
  ),
  tablePhrase(
    `how many (?:(?<state>${STATE}) )?tasks(?: do i have| have i got| are there)?(?: (?:that )?are (?<still>${STATE}))?${WHICH}`,
    "how many todo tasks do I have",
    (text) => given({ status: stateOf(text("state") || text("still")), project_id: text("project") }),
  ),
  tablePhrase(
    `(?:which|what)(?: of my)? tasks (?:are|do i have)(?: (?<state>${STATE}))?`,
    "which tasks are done",
    (text) => given({ status: stateOf(text("state")) }),
  ),
  tablePhrase(
    "(?:find|search(?: for)?|list|show)(?: me)?(?: my| the| all)? tasks (?:about|with|mentioning|containing) (?<words>.+)",
    "find tasks about milk",
    (text) => ({ search: text("words") }),
  ),
]

export const dueTodayPhrases: readonly Phrase[] = [
  tablePhrase("(?:list|show)(?: me)?(?: all)?(?: my| the)? tasks(?: that are)? due today", "show tasks due today"),
  tablePhrase("(?:what|what's|which tasks|how many tasks)(?: is| are)?(?: due)? today", "what is due today"),
  tablePhrase("what do i have to do today", "what do I have to do today"),
]

const newTask = (_said: GroupText, quoted: GroupText) => oneTask(readWords(quoted("task")))

export const createTaskPhrases: readonly Phrase[] = [
  tablePhrase(
    "(?:add|create|make|new)(?: me)?(?: a| another)?(?: new)? task(?:: ?| called | named | titled | to | - | )(?<task>.+)",
    "create a task called Call Ada with high priority due tomorrow",
    newTask,
  ),
  tablePhrase(
    "(?:add|put) (?<task>.+) (?:to|on) my (?:tasks|task list|list|to-do list)",
    "add bread to my tasks",
    newTask,
  ),
  tablePhrase("remind me to (?<task>.+)", "remind me to water the plants", newTask),
]

const TASK = "(?: the| my)?(?: task)?:? (?<task>.+)"
const about = (text: GroupText, changes: Record<string, unknown>) => ({
  task_id: text("task"),
  ...changes,
})

export const updateTaskPhrases: readonly Phrase[] = [
  tablePhrase(`(?:mark|set)${TASK} (?:as|to) (?<state>${STATE})`, "mark Buy milk as done", (text) =>
    about(text, { status: stateOf(text("state")) }),
  ),
  tablePhrase(`(?:complete|finish|tick off)${TASK}`, "complete Buy milk", (text) => about(text, { status: "done" })),
  tablePhrase(`(?:start|begin)(?: the| my)? task:? (?<task>.+)`, "start task Buy milk", (text) =>
    about(text, { status: "in_progress" }),
  ),
  tablePhrase(`reopen${TASK}`, "reopen Buy milk", (text) => about(text, { status: "todo" })),
  tablePhrase("rename(?: the| my)? task (?<task>.+?) to (?<title>.+)", "rename task Buy milk to Buy oat milk", (text) =>
    about(text, { title: text("title") }),
  ),
  tablePhrase(
    "(?:set|change)(?: the)? priority of(?: the| my)?(?: task)? (?<task>.+) to (?<priority>high|medium|low)",
    "set the priority of Buy milk to high",
    (text) => about(text, { priority: text("priority").toLowerCase() }),
  ),
  tablePhrase(
    "(?:set|change|move)(?: the)? due date of(?: the| my)?(?: task)? (?<task>.+?) to (?<due>.+)",
    "move the due date of Buy milk to next friday",
    (text) => about(text, { due_date: text("due") }),
  ),
  tablePhrase(
    "(?:postpone|move|reschedule)(?: the| my)? task (?<task>.+?) (?:to|until) (?<due>.+)",
    "postpone task Buy milk to tomorrow",
    (text) => about(text, { due_date: text("due") }),
  ),
  tablePhrase("assign(?: the| my)?(?: task)? (?<task>.+?) to (?<who>.+)", "assign Buy milk to Ada", (text) =>
    about(text, {
      assignees: text("who")
        .split(/,| and /)
        .map((name) => name.trim())
        .filter(Boolean),
    }),
  ),
]

export const deleteTaskPhrases: readonly Phrase[] = [
  tablePhrase(
    "(?:delete|remove)(?: the| my)? task(?:: ?| called | named | )(?<task>.+)",
    "delete task buy milk",
    (text) => ({
      task_id: text("task"),
    }),
  ),
]

export const listCommentsPhrases: readonly Phrase[] = [
  tablePhrase(
    "(?:list|show|read)(?: me)?(?: all)?(?: the)? comments (?:on|of|for|about)(?: the| my)?(?: task)? (?<task>.+)",
    "show the comments on Buy milk",
    (text) => ({ task_id: text("task") }),
  ),
]

export const addCommentPhrases: readonly Phrase[] = [
  tablePhrase(
    "(?:add a comment to|add comment to|comment on)(?: the| my)?(?: task)? (?<task>[^:]+): ?(?<content>.+)",
    "comment on Buy milk: two litres",
    (text) => ({ task_id: text("task"), author: "me", content: text("content") }),
  ),
]

export const deleteCommentPhrases: readonly Phrase[] = [
  tablePhrase("(?:delete|remove)(?: the)? comment (?<comment>.+)", "delete comment cmt_1", (text) => ({
    comment_id: text("comment"),
  })),
]
