import { isAbsolute, join } from "node:path"
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk"
import { humanName } from "../../client/format.ts"
import { own } from "../../core/shared/text/json.ts"
import type { Diff } from "../../core/protocol/proposals/proposal.ts"
import type { JsonObject } from "../../core/protocol/schema.ts"
import type { MessageFile } from "../../core/protocol/conversation/message.ts"

/** The icons of our tools; any other is `other`. */
const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: "read",
  list_directory: "read",
  git_diff: "read",
  git_log: "read",
  find_files: "search",
  search_in_files: "search",
  edit_file: "edit",
  write_file: "edit",
  create_directory: "edit",
  restore_file: "edit",
  move_file: "move",
  delete_file: "delete",
  delete_entry: "delete",
  run_command: "execute",
}

const MAX_TITLE = 200

export const toolKindOf = (tool: string): ToolKind => own(KINDS, tool) ?? "other"

/** A call in one line: `Read file core/index.ts`, `Run command: npm test`. */
export function titleOfCall(tool: string, { path, from, to, command, pattern }: JsonObject): string {
  const about = [path, from, pattern].find((each) => typeof each === "string")
  const goal = typeof to === "string" ? ` to ${to}` : ""
  const subject = typeof command === "string" ? `: ${command}` : about === undefined ? "" : ` ${String(about)}${goal}`
  return `${humanName(tool)}${subject}`.slice(0, MAX_TITLE)
}

/** The files of a call, so that an editor can follow it. */
export function locationsOf(root: string, { path, from, to, start_line: line }: JsonObject): ToolCallLocation[] {
  const paths = [path, from, to].filter((each) => typeof each === "string")
  return paths.map((each) => ({ path: absolute(root, each), ...(typeof line === "number" ? { line } : {}) }))
}

/** The diff of a write: a file as two texts, anything else as JSON. */
export function diffContent(root: string, diff: Diff | null): ToolCallContent[] {
  if (!diff) return []
  const [before, after] = [toSide(diff.before), toSide(diff.after)]
  const path = after?.path ?? before?.path
  const isText = (side: FileSide | undefined) => side === undefined || side.text !== undefined
  if (path === undefined || !isText(before) || !isText(after)) return [textContent(JSON.stringify(diff, null, 2))]
  return [{ type: "diff", path: absolute(root, path), oldText: before?.text ?? null, newText: after?.text ?? "" }]
}

/** The first changed line of a file. */
export function changedLocations(root: string, diff: Diff | null): ToolCallLocation[] {
  const [before, after] = [toSide(diff?.before), toSide(diff?.after)]
  const path = after?.path ?? before?.path
  if (path === undefined) return []
  const [old, now] = [(before?.text ?? "").split("\n"), (after?.text ?? "").split("\n")]
  const first = now.findIndex((line, index) => line !== old[index])
  return [{ path: absolute(root, path), line: first === -1 ? 1 : first + 1 }]
}

export const textContent = (text: string): ToolCallContent => ({ type: "content", content: { type: "text", text } })

/** A file of a result as a link with our own scheme. */
export const linkContent = ({ id, name, size }: MessageFile): ToolCallContent => ({
  type: "content",
  content: { type: "resource_link", name, uri: `pawl:${id}`, size },
})

interface FileSide {
  readonly path: string
  /** Undefined if the file is too long or binary. */
  readonly text: string | undefined
}

function toSide(side: unknown): FileSide | undefined {
  if (typeof side !== "object" || side === null) return undefined
  const { path, text } = side as Record<string, unknown>
  return typeof path === "string" ? { path, text: typeof text === "string" ? text : undefined } : undefined
}

const absolute = (root: string, path: string) => (isAbsolute(path) ? path : join(root, path))
