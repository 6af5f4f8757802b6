import { readFile } from "node:fs/promises"
import { basename, resolve } from "node:path"
import { type Client, hasCode } from "../../client/index.ts"
import type { ReplySettings } from "../../protocol/conversation/reply-settings.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import type { Approve, EvalWords } from "../file/eval-file.ts"
import { CaseFault } from "./start-case.ts"

interface Speaking {
  readonly client: Client
  readonly id: string
  readonly base: string
  readonly settings: ReplySettings | undefined
  /** For words that say nothing else. */
  readonly approve: Approve
  readonly signal: AbortSignal
}

/** Says something, decides what is proposed as the case says, and waits until there is nothing left to do. Answers with its run. */
export async function speak(words: EvalWords, speaking: Speaking): Promise<string> {
  const { client, id, settings, signal } = speaking
  const approve = words.approve ?? speaking.approve
  const files: string[] = []
  for (const path of words.files ?? []) files.push(await upload(client, resolve(speaking.base, path)))
  const body = { text: words.text, ...(files.length > 0 ? { files } : {}), ...(settings ? { settings } : {}) }
  const answer = await client.sendMessage({ params: { id }, body, signal })
  // Each message is said when the one before rests, so that none has to wait in the queue.
  if (!("run" in answer)) throw new Error("The words were queued behind a run that had rested.")
  for (let { run, proposals } = answer; run.status === "paused";) {
    const open = proposals.filter(({ status }) => status === "pending")
    if ((await decide(client, open, approve)) < open.length || open.length === 0) break
    ;({ run, proposals } = await client.resumeRun({ params: { id }, signal }))
  }
  return answer.run.id
}

async function upload(client: Client, path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new CaseFault(`say.files: ${path} cannot be read (${error.code}).`)
  })
  return (await client.uploadFile({ file: new Uint8Array(bytes), query: { name: basename(path) } })).id
}

/** How many of them were decided. */
async function decide(client: Client, proposals: readonly Proposal[], approve: Approve): Promise<number> {
  let decided = 0
  for (const { id, tool } of proposals) {
    const said = answerTo(tool, approve)
    if (said === "leave") continue
    decided += 1
    if (said === "yes") await agree(client, id)
    else await client.rejectProposal({ params: { id }, body: {} })
  }
  return decided
}

/** What it would change may have been changed by the one before it: it has failed then, which is how the case went. */
async function agree(client: Client, id: string): Promise<void> {
  await client.commitProposal({ params: { id }, body: {} }).catch((error: unknown) => {
    if (!hasCode(error, "proposal_stale")) throw error
  })
}

function answerTo(tool: string, approve: Approve): "yes" | "no" | "leave" {
  if (approve === "all") return "yes"
  if (approve === "none") return "no"
  if (approve === "leave") return "leave"
  if (Array.isArray(approve)) return approve.includes(tool) ? "yes" : "no"
  return Object.hasOwn(approve, tool) ? (approve[tool] ?? "no") : "no"
}
