import { endpointWords, modelFacts, sourceWords } from "../../client/model-words.ts"
import { count } from "../../client/words.ts"
import type { ListedModel } from "../../protocol/answers.ts"
import { toTimeOfDay } from "../drawing/program-lines.ts"
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
  const listed = items.find((model) => model.name === words || model.aliases.includes(words))
  if (listed || (words.includes("/") && !items.some(({ name }) => has(name, words)))) {
    // What no endpoint lists may be there all the same: the server says whether it can be asked for.
    await talk.setModel(words)
    if (listed) talk.windows.set(listed.name, listed.contextTokens)
    const lacks = listed?.can?.tools === false ? " It takes no tools: agents that work with tools refuse it." : ""
    const known = listed ? ` ${modelFacts(listed).join(" · ")}.` : ""
    const whose = listed?.sources ? [line(sourceWords(listed.sources), DIM)] : []
    return talk.print(line(`Model: ${toShown(words)}.${toShown(known)}${lacks}`, DIM), ...whose)
  }
  const found = words === "" || refresh ? items : items.filter(({ name }) => has(name, words))
  if (found.length === 0) return talk.print(line(`! There is no model "${toShown(words)}". /model lists them.`))
  // Those that can be used come first: where there are many, the others need not be seen.
  const sorted = [...found.filter(({ available }) => available), ...found.filter(({ available }) => !available)]
  const rows = sorted.slice(0, SHOWN).map((model) => toRow(model, usual))
  const rest = found.length - rows.length
  talk.print(
    [],
    ...rows,
    ...(rest > 0 ? [line(`… and ${count(rest, "more model")}: /model LETTERS finds those that have them.`, DIM)] : []),
    ...endpointWords(endpoints, toTimeOfDay).map((text) => line(toShown(text), DIM)),
    line("/model NAME chooses one.", DIM),
  )
}

const has = (name: string, letters: string): boolean => name.toLowerCase().includes(letters.toLowerCase())

function toRow(model: ListedModel, usual: string | null): Line {
  const { name, available, need } = model
  // What to set comes first in it; where else it could be put is the server's business.
  const needs = toShown((need ?? "not available").split(",")[0] ?? "")
  const more = available ? toShown(modelFacts(model).join(" · ")) : needs
  return [span(`${name === usual ? "*" : " "} ${toShown(name)}`), span(` · ${more}`, DIM)]
}
