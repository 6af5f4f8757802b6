import { describeEndpoints, describeFactSources, modelFacts } from "../../../client/model-words.ts"
import { lastReasoning } from "../../../client/transcript/reply-words.ts"
import type { ListedModel } from "../../../core/protocol/answers.ts"
import { formatSettings, parseSettings, withSettings } from "../../../core/protocol/conversation/reply-settings.ts"
import { connectText } from "../../strings/connect.ts"
import { slashText } from "../../strings/slash-commands.ts"
import { toTimeOfDay } from "../drawing/note-lines.ts"
import { reasoningLines } from "../drawing/thought-lines.ts"
import { DIM, type Line, line, span } from "../line.ts"
import { toShown } from "../shown.ts"
import type { Talk } from "./talk.ts"

/** More would scroll away what was asked for: a gateway has hundreds. */
const SHOWN = 40
/** How long endpoints are waited for that are being asked: whoever looks wants to see what they have. */
const WAIT_SECONDS = 3

/** The models with what is known of them, those with these letters in their names, or the one that answers from now on. */
export async function modelCommand(talk: Talk, words: string): Promise<void> {
  const refresh = words === "again"
  const query = { wait: WAIT_SECONDS, ...(refresh ? { refresh: "true" as const } : {}) }
  const { items, default: usual, endpoints = [] } = await talk.client.listModels({ query })
  const plain = items.filter(({ name, available }) => available && name.slice(name.indexOf("/") + 1) === words)
  const listed =
    items.find(({ name }) => name === words) ??
    (plain.length === 1 ? plain[0] : items.find(({ aliases }) => aliases.includes(words)))
  if (listed || (words.includes("/") && !items.some(({ name }) => has(name, words)))) {
    // What no endpoint lists may be there all the same: the server says whether it can be asked for.
    const chosen = listed && plain.includes(listed) ? listed.name : words
    await talk.setModel(chosen)
    if (listed) talk.windows.set(listed.name, listed.contextTokens)
    const lacks = listed?.can?.tools === false ? slashText.modelWithoutTools : ""
    const known = listed ? slashText.modelFacts(modelFacts(listed)) : ""
    const whose = listed?.sources ? [line(describeFactSources(listed.sources), DIM)] : []
    return talk.print(line(slashText.model(toShown(chosen), `${toShown(known)}${lacks}`), DIM), ...whose)
  }
  const found = words === "" || refresh ? items : items.filter(({ name }) => has(name, words))
  if (found.length === 0) return talk.print(line(slashText.unknownModel(toShown(words))))
  const [usable, others] = [found.filter(({ available }) => available), found.filter(({ available }) => !available)]
  // A list of what other providers need helps only the person who looks for one of their models.
  const isWhole = usable.length === found.length || (words !== "" && !refresh)
  const sorted = isWhole ? [...usable, ...others] : usable
  const rows = sorted.slice(0, SHOWN).map((model) => toRow(model, usual))
  const rest = sorted.length - rows.length
  talk.print(
    [],
    ...rows,
    ...(rest > 0 ? [line(slashText.moreModels(rest), DIM)] : []),
    ...describeEndpoints(endpoints, toTimeOfDay).map((text) => line(toShown(text), DIM)),
    ...(isWhole ? [] : [line(connectText.othersNeedAccess(others.length), DIM)]),
    line(slashText.modelHow, DIM),
  )
}

const has = (name: string, letters: string): boolean => name.toLowerCase().includes(letters.toLowerCase())

function toRow(model: ListedModel, usual: string | null): Line {
  const { name, available, need } = model
  // What to set comes first in it; where else it could be put is the server's business.
  const needs = toShown((need ?? slashText.notAvailable).split(",")[0] ?? "")
  const more = available ? toShown(modelFacts(model).join(" · ")) : needs
  return [span(`${name === usual ? "*" : " "} ${toShown(name)}`), span(` · ${more}`, DIM)]
}

/** How long the model server may take to list its models after it was connected. */
const CONNECT_WAIT_SECONDS = 3

/** Connects a model server that runs on the machine of the Pawl server, and chooses its best model. */
export async function connectCommand(talk: Talk, name: string): Promise<void> {
  const { localServers, items } = await talk.client.listModels()
  const found = localServers?.items ?? []
  const warn = (text: string) => talk.print(line(`! ${toShown(text)}`))
  const isConnected = items.some(({ available, provider }) => available && provider !== "offline")
  if (found.length === 0) return warn(isConnected ? connectText.hasProvider : connectText.nothingFound)
  const named = name === "" ? found : found.filter(({ provider }) => provider === name.toLowerCase())
  const [server] = named
  if (!server || named.length > 1) return warn(connectText.several(found.map(({ provider }) => provider).join(", ")))
  if (!localServers?.mayConnect) return warn(connectText.needsVariable(server))
  await talk.client.saveProvider({ params: { name: server.provider }, body: { baseUrl: server.baseUrl } })
  const { default: model } = await talk.client.listModels({ query: { wait: CONNECT_WAIT_SECONDS, refresh: "true" } })
  if (model === null || model === "offline") return warn(connectText.connectedEmpty(server.label))
  await talk.setModel(model)
  talk.print(line(toShown(connectText.connected(server.label, model)), DIM))
}

interface Talking {
  readonly talk: Talk
}

/** `/fallback`: which models answer if the selected one is unreachable, overloaded or out of quota. */
export async function fallbackCommand({ talk }: Talking, words: string): Promise<void> {
  if (words === "") return show({ talk })
  const names = words.split(/[\s,]+/).filter((name) => name !== "")
  const fallback = words === "usual" ? null : words === "none" ? [] : names
  const { conversation, client } = talk
  if (conversation) await client.changeConversation({ params: { id: conversation.id }, body: { fallback } })
  talk.choices = { ...talk.choices, fallback }
  if (fallback === null) return talk.print(line(slashText.usualFallback, DIM))
  if (fallback.length === 0) return talk.print(line(slashText.noFallback, DIM))
  talk.print(line(toShown(slashText.fallback(fallback)), DIM))
}

async function show({ talk }: Talking): Promise<void> {
  const { conversation } = talk
  const told = conversation && (await talk.client.readModel({ params: { id: conversation.id } })).fallback
  const models = told?.models ?? talk.choices.fallback ?? []
  const who = models.length > 0 ? slashText.fallback(models) : slashText.noFallback
  const whose = told && told.from !== "conversation" ? slashText.fallbackFrom(told.from) : ""
  talk.print(line(toShown(who + whose)))
  talk.print(line(slashText.fallbackHow, DIM))
}

/** Unfolds what was thought last, also while it still is. */
export async function reasoningCommand({ talk }: { readonly talk: Talk }): Promise<void> {
  const { conversation } = talk
  const found = conversation && lastReasoning(conversation.transcript)
  if (!conversation || !found) return talk.print(line(slashText.noReasoning))
  const { message, ms } = found
  const whole = message?.reasoning?.truncated
    ? await talk.client.readMessage({ params: { id: conversation.id, messageId: message.id } })
    : undefined
  talk.print(...reasoningLines(whole?.reasoning?.text ?? found.text, ms))
}

/** How the model replies in this conversation: shows it, or sets it with words such as `effort=low`. */
export async function settingsCommand({ talk }: { readonly talk: Talk }, words: string): Promise<void> {
  if (words === "") return talk.print(shownSettings(talk), line(slashText.settingsHow, DIM))
  let given: ReturnType<typeof parseSettings>
  try {
    given = parseSettings(words.split(/\s+/))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return talk.print(line(slashText.warning(toShown(error.message))))
  }
  const { conversation, choices } = talk
  if (conversation) await talk.client.changeConversation({ params: { id: conversation.id }, body: { settings: given } })
  talk.choices = { ...choices, settings: withSettings(settingsNow(talk), given) }
  talk.print(shownSettings(talk, talk.choices.settings))
}

/** Those of the conversation, or what one will begin with. */
const settingsNow = ({ conversation, choices }: Talk) => conversation?.transcript.settings ?? choices.settings ?? {}

function shownSettings(talk: Talk, settings = settingsNow(talk)): Line {
  const said = formatSettings(settings)
  return line(said === "" ? slashText.defaultSettings : slashText.settings(toShown(said)), DIM)
}
