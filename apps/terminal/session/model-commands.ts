import { describeEndpoints, describeFactSources, modelFacts } from "../../../client/model-text.ts"
import { lastReasoning } from "../../../client/transcript/reply-text.ts"
import type { ListedModel } from "../../../core/protocol/answers.ts"
import { formatSettings, parseSettings, withSettings } from "../../../core/protocol/conversation/reply-settings.ts"
import { connectText } from "../../strings/connect.ts"
import { slashText } from "../../strings/slash-commands.ts"
import { toTimeOfDay } from "../drawing/waiting-lines.ts"
import { reasoningLines } from "../drawing/reasoning-lines.ts"
import { DIM, type Line, line, span } from "../line.ts"
import { printable } from "../printable.ts"
import type { TerminalSession } from "./terminal-session.ts"

/** A gateway has hundreds of models. */
const SHOWN = 40
/** How long to wait for endpoints that are being queried. */
const WAIT_SECONDS = 3

/** Lists the models, lists those that match, or chooses one. */
export async function modelCommand(session: TerminalSession, text: string): Promise<void> {
  const refresh = text === "again"
  const query = { wait: WAIT_SECONDS, ...(refresh ? { refresh: "true" as const } : {}) }
  const { items, default: usual, endpoints = [] } = await session.client.listModels({ query })
  const plain = items.filter(({ name, available }) => available && name.slice(name.indexOf("/") + 1) === text)
  const listed =
    items.find(({ name }) => name === text) ??
    (plain.length === 1 ? plain[0] : items.find(({ aliases }) => aliases.includes(text)))
  if (listed || (text.includes("/") && !items.some(({ name }) => has(name, text)))) {
    // An endpoint may have models that it does not list: the server decides.
    const chosen = listed && plain.includes(listed) ? listed.name : text
    await session.setModel(chosen)
    if (listed) session.windows.set(listed.name, listed.contextTokens)
    const lacks = listed?.can?.tools === false ? slashText.modelWithoutTools : ""
    const known = listed ? slashText.modelFacts(modelFacts(listed)) : ""
    const source = listed?.sources ? [line(describeFactSources(listed.sources), DIM)] : []
    return session.print(line(slashText.model(printable(chosen), `${printable(known)}${lacks}`), DIM), ...source)
  }
  const found = text === "" || refresh ? items : items.filter(({ name }) => has(name, text))
  if (found.length === 0) return session.print(line(slashText.unknownModel(printable(text))))
  const [usable, others] = [found.filter(({ available }) => available), found.filter(({ available }) => !available)]
  // Models that need a setup are listed only if the person searches for them.
  const isWhole = usable.length === found.length || (text !== "" && !refresh)
  const sorted = isWhole ? [...usable, ...others] : usable
  const rows = sorted.slice(0, SHOWN).map((model) => toRow(model, usual))
  const rest = sorted.length - rows.length
  session.print(
    [],
    ...rows,
    ...(rest > 0 ? [line(slashText.moreModels(rest), DIM)] : []),
    ...describeEndpoints(endpoints, toTimeOfDay).map((text) => line(printable(text), DIM)),
    ...(isWhole ? [] : [line(connectText.othersNeedAccess(others.length), DIM)]),
    line(slashText.modelHow, DIM),
  )
}

const has = (name: string, letters: string): boolean => name.toLowerCase().includes(letters.toLowerCase())

function toRow(model: ListedModel, usual: string | null): Line {
  const { name, available, need } = model
  // The variable to set comes first; the alternatives are left out.
  const needs = printable((need ?? slashText.notAvailable).split(",")[0] ?? "")
  const more = available ? printable(modelFacts(model).join(" · ")) : needs
  return [span(`${name === usual ? "*" : " "} ${printable(name)}`), span(` · ${more}`, DIM)]
}

/** How long a model server may take to list its models after it was connected. */
const CONNECT_WAIT_SECONDS = 3

/** Connects a model server on the machine of the Pawl server and chooses its best model. */
export async function connectCommand(session: TerminalSession, name: string): Promise<void> {
  const { localServers, items } = await session.client.listModels()
  const found = localServers?.items ?? []
  const warn = (text: string) => session.print(line(`! ${printable(text)}`))
  const isConnected = items.some(({ available, provider }) => available && provider !== "offline")
  if (found.length === 0) return warn(isConnected ? connectText.hasProvider : connectText.nothingFound)
  const named = name === "" ? found : found.filter(({ provider }) => provider === name.toLowerCase())
  const [server] = named
  if (!server || named.length > 1) return warn(connectText.several(found.map(({ provider }) => provider).join(", ")))
  if (!localServers?.mayConnect) return warn(connectText.needsVariable(server))
  await session.client.saveProvider({ params: { name: server.provider }, body: { baseUrl: server.baseUrl } })
  const { default: model } = await session.client.listModels({ query: { wait: CONNECT_WAIT_SECONDS, refresh: "true" } })
  if (model === null || model === "offline") return warn(connectText.connectedEmpty(server.label))
  await session.setModel(model)
  session.print(line(printable(connectText.connected(server.label, model)), DIM))
}

interface CommandTarget {
  readonly session: TerminalSession
}

/** `/fallback`: which models answer if the selected one is unreachable, overloaded or out of quota. */
export async function fallbackCommand({ session }: CommandTarget, text: string): Promise<void> {
  if (text === "") return show({ session })
  const names = text.split(/[\s,]+/).filter((name) => name !== "")
  const fallback = text === "usual" ? null : text === "none" ? [] : names
  const { conversation, client } = session
  if (conversation) await client.changeConversation({ params: { id: conversation.id }, body: { fallback } })
  session.choices = { ...session.choices, fallback }
  if (fallback === null) return session.print(line(slashText.usualFallback, DIM))
  if (fallback.length === 0) return session.print(line(slashText.noFallback, DIM))
  session.print(line(printable(slashText.fallback(fallback)), DIM))
}

async function show({ session }: CommandTarget): Promise<void> {
  const { conversation } = session
  const chain = conversation && (await session.client.readModel({ params: { id: conversation.id } })).fallback
  const models = chain?.models ?? session.choices.fallback ?? []
  const who = models.length > 0 ? slashText.fallback(models) : slashText.noFallback
  const source = chain && chain.from !== "conversation" ? slashText.fallbackFrom(chain.from) : ""
  session.print(line(printable(who + source)))
  session.print(line(slashText.fallbackHow, DIM))
}

/** Prints the last reasoning, even if it is unfinished. */
export async function reasoningCommand({ session }: { readonly session: TerminalSession }): Promise<void> {
  const { conversation } = session
  const found = conversation && lastReasoning(conversation.transcript)
  if (!conversation || !found) return session.print(line(slashText.noReasoning))
  const { message, ms } = found
  const whole = message?.reasoning?.truncated
    ? await session.client.readMessage({ params: { id: conversation.id, messageId: message.id } })
    : undefined
  session.print(...reasoningLines(whole?.reasoning?.text ?? found.text, ms))
}

/** Shows or sets reply settings, such as `effort=low`. */
export async function settingsCommand({ session }: { readonly session: TerminalSession }, text: string): Promise<void> {
  if (text === "") return session.print(shownSettings(session), line(slashText.settingsHow, DIM))
  let parsed: ReturnType<typeof parseSettings>
  try {
    parsed = parseSettings(text.split(/\s+/))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return session.print(line(slashText.warning(printable(error.message))))
  }
  const { conversation, choices } = session
  if (conversation)
    await session.client.changeConversation({ params: { id: conversation.id }, body: { settings: parsed } })
  session.choices = { ...choices, settings: withSettings(settingsNow(session), parsed) }
  session.print(shownSettings(session, session.choices.settings))
}

const settingsNow = ({ conversation, choices }: TerminalSession) =>
  conversation?.transcript.settings ?? choices.settings ?? {}

function shownSettings(session: TerminalSession, settings = settingsNow(session)): Line {
  const result = formatSettings(settings)
  return line(result === "" ? slashText.defaultSettings : slashText.settings(printable(result)), DIM)
}
