import type { Context } from "hono"
import {
  clientNameOf,
  type ConversationItem,
  type ConversationItems,
  type Env,
  eraseConversation,
  findConversation,
  type InputItemsQuery,
  type NewOpenAiConversation,
  type OpenAiConversation,
  type OpenAiConversationDeleted,
  type OpenAiConversationPatch,
  type ServerPorts,
  toConversationStart,
  userOf,
} from "../../core/adapter.ts"
import {
  type CallId,
  type ConversationId,
  type ConversationView,
  failure,
  isId,
  isImageType,
  MAX_PAGE_BYTES,
  type Message,
} from "../../core/protocol/index.ts"
import { problem, toDelegatedToolCall, toDelegatedCallId } from "./content.ts"
import { readModelName, toModelName } from "./model-names.ts"

const ADDED = "items: they are added by responses, whose input they are; send conversation to POST /v1/responses"

/** Creates an empty conversation. Its agent is fixed, so the metadata name it. */
export async function createOpenAiConversation(
  c: Context<Env>,
  ports: ServerPorts,
  { metadata, items }: NewOpenAiConversation,
): Promise<OpenAiConversation> {
  if (items?.length) throw problem(ADDED)
  const { model, title } = metadata ?? {}
  const named = model === undefined ? undefined : readModelName(model)
  if (named) ports.agents.get(named.agent)
  const chosen = { ...named, ...(title === undefined ? {} : { title }) }
  const { id } = await ports.runtime.begin(await toConversationStart(c.get("caller"), ports, chosen))
  const found = await ports.conversations.find(userOf(c), id)
  if (!found) throw failure("not_found")
  return toConversation(found)
}

export async function readOpenAiConversation(c: Context<Env>, ports: ServerPorts): Promise<OpenAiConversation> {
  return toConversation(await findConversation(c, ports))
}

export async function changeOpenAiConversation(
  c: Context<Env>,
  ports: ServerPorts,
  { metadata }: OpenAiConversationPatch,
): Promise<OpenAiConversation> {
  const found = await findConversation(c, ports)
  const { model, title } = metadata ?? {}
  if (model !== undefined && model !== toModelName(found))
    throw problem(`metadata: this conversation stays with ${toModelName(found)}; create another one`)
  if (title === undefined) return toConversation(found)
  await ports.runtime.submit(found.id, { type: "settings", title })
  return toConversation({ ...found, title })
}

export async function deleteOpenAiConversation(
  c: Context<Env>,
  ports: ServerPorts,
): Promise<OpenAiConversationDeleted> {
  const { id } = await findConversation(c, ports)
  await eraseConversation(ports, userOf(c), id)
  return { id, object: "conversation.deleted", deleted: true }
}

const toConversation = ({ id, createdAt, title, agent }: ConversationView): OpenAiConversation => ({
  ...{ id, object: "conversation", created_at: Math.floor(Date.parse(createdAt) / 1000) },
  metadata: { model: toModelName({ agent }), ...(title === null ? {} : { title }) },
})

export async function refuseNewItems(c: Context<Env>, ports: ServerPorts): Promise<never> {
  await findConversation(c, ports)
  throw problem(ADDED)
}

export async function refuseDeletion(c: Context<Env>, ports: ServerPorts): Promise<never> {
  const { id } = await findConversation(c, ports)
  await messageOfItem(ports, id, c.req.param("itemId") ?? "")
  throw problem(`items: an item cannot be deleted alone; DELETE /v1/conversations/${id} deletes the whole conversation`)
}

export async function readItem(c: Context<Env>, ports: ServerPorts): Promise<ConversationItem> {
  const { id } = await findConversation(c, ports)
  const itemId = c.req.param("itemId") ?? ""
  const message = await messageOfItem(ports, id, itemId)
  const item = (await toItems(ports, id, [message])).find((each) => each.id === itemId)
  if (!item) throw failure("not_found")
  return item
}

/** Reads messages until the page is full in items or bytes. Most messages are one item; those of the agent's tools none. */
export async function listItems(
  c: Context<Env>,
  ports: ServerPorts,
  { limit, order, after }: InputItemsQuery,
): Promise<ConversationItems> {
  const { id } = await findConversation(c, ports)
  const start = after === undefined ? undefined : await messageOfItem(ports, id, after)
  const data: ConversationItem[] = []
  let bytes = 0
  let isPast = after === undefined
  const toPage = (has_more: boolean): ConversationItems => ({
    ...{ object: "list", data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more },
  })
  for await (const messages of order === "desc" ? readBack(ports, id, start?.seq) : readOn(ports, id, start?.seq)) {
    const items = await toItems(ports, id, messages)
    for (const item of order === "desc" ? items.toReversed() : items) {
      if (!isPast) {
        isPast = item.id === after
        continue
      }
      bytes += JSON.stringify(item).length
      if (data.length > 0 && (data.length === limit || bytes > MAX_PAGE_BYTES)) return toPage(true)
      data.push(item)
    }
  }
  if (!isPast) throw failure("not_found")
  return toPage(false)
}

const BATCH = 50

/** Batches of messages from the newest, or this one, to the first. Each batch is in order. */
async function* readBack({ conversations }: ServerPorts, id: ConversationId, from?: number): AsyncGenerator<Message[]> {
  for (let before = from === undefined ? undefined : from + 1; ;) {
    const { items } = await conversations.messages(id, { before, limit: BATCH })
    if (items.length === 0) return
    yield items
    before = items[0]!.seq
  }
}

/** Batches of messages from the first, or this one, to the newest. */
async function* readOn({ conversations }: ServerPorts, id: ConversationId, from = 1): AsyncGenerator<Message[]> {
  const newest = (await conversations.messages(id, { limit: 1 })).items.at(-1)?.seq ?? 0
  let size = BATCH
  for (let next = from; next <= newest;) {
    const read = await conversations.messages(id, { before: next + size, limit: size })
    const items = read.items.filter(({ seq }) => seq >= next)
    // A batch that is too long begins later. A result that is still missing leaves a gap, too.
    if (items[0]?.seq !== next && size > 1) size = Math.ceil(size / 2)
    else {
      if (items.length > 0) yield items
      next += size
      size = BATCH
    }
  }
}

const ITEM = /^(?:msg|fc|fco)_(\w+?)(?:_\d{1,3})?$/

/** The message of an item. Throws `not_found`. */
async function messageOfItem({ conversations }: ServerPorts, id: ConversationId, item: string): Promise<Message> {
  const message = `msg_${ITEM.exec(item)?.[1] ?? ""}`
  const found = isId("msg", message) ? await conversations.message(id, message) : undefined
  if (!found) throw failure("not_found")
  return found
}

async function toItems(ports: ServerPorts, id: ConversationId, messages: readonly Message[]) {
  const calls = new Set(messages.flatMap(callsOfClient))
  const [first] = messages
  // The reply with the calls comes before their results.
  if (first?.role === "tool")
    for (const message of (await ports.conversations.messages(id, { before: first.seq, limit: 100 })).items)
      for (const call of callsOfClient(message)) calls.add(call)
  return messages.flatMap((message) => toItemsOf(message, id, calls))
}

const callsOfClient = ({ toolCalls }: Message): CallId[] =>
  (toolCalls ?? []).flatMap((call) => (clientNameOf(call.name) === undefined ? [] : [call.id]))

function toItemsOf(message: Message, conversation: ConversationId, calls: ReadonlySet<CallId>): ConversationItem[] {
  const { id, role, content, toolCallId, toolCalls } = message
  const status = "completed"
  const digits = id.slice("msg_".length)
  if (role === "user") return [{ id, type: "message", role, status, content: toUserContent(message) }]
  if (role === "tool") {
    if (toolCallId === null || !calls.has(toolCallId)) return []
    const call_id = toDelegatedCallId(toolCallId, conversation)
    return [{ id: `fco_${digits}`, type: "function_call_output", status, call_id, output: content }]
  }
  const text = { type: "output_text" as const, text: content, annotations: [] }
  const reply: ConversationItem = { id, type: "message", role, status, content: [text] }
  const functions = (toolCalls ?? []).flatMap((call, at): ConversationItem[] => {
    if (!calls.has(call.id)) return []
    const { id: call_id, ...called } = toDelegatedToolCall({ ...call, callId: call.id }, conversation)
    return [{ id: `fc_${digits}_${at}`, type: "function_call", call_id, ...called, status }]
  })
  return content === "" ? functions : [reply, ...functions]
}

function toUserContent({ content, files = [] }: Message) {
  const text = { type: "input_text" as const, text: content }
  const attached = files.map(({ id: file_id, name: filename, type }) =>
    isImageType(type)
      ? ({ type: "input_image", file_id, image_url: null, detail: "auto" } as const)
      : ({ type: "input_file", file_id, filename } as const),
  )
  return [text, ...attached]
}
