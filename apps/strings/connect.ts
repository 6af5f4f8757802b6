/** Text for people who have no model yet: how to connect one. */

import { plural } from "./plural.ts"

interface Found {
  readonly label: string
  readonly baseUrl: string
  readonly variable: string
  readonly models: readonly string[]
}

const NAMED = 3

/** Such as "Ollama is running on this machine (qwen3:8b, llama3.2 and 4 more)". */
function running({ label, models }: Found): string {
  const more = models.length > NAMED ? ` and ${models.length - NAMED} more` : ""
  const names = models.length === 0 ? "no model yet" : models.slice(0, NAMED).join(", ") + more
  return `${label} is running on this machine (${names})`
}

export const connectText = {
  offline: "The offline model answers here. It understands only a few fixed requests: try “What can you do?”",
  noServer: "To choose a real model, start Ollama or LM Studio and type /connect, or set a key such as OPENAI_API_KEY.",
  found: (server: Found, mayConnect: boolean, isOnly: boolean) =>
    mayConnect
      ? `${running(server)}. To use it, type /connect${isOnly ? "" : ` ${server.label.toLowerCase().replace(" ", "")}`}.`
      : `${running(server)}. To use it, restart the server with ${server.variable}=${server.baseUrl}.`,
  answers: (model: string) => `${model} answers here.`,
  chooseOther: "/model lists the models that you can use, and /model NAME chooses one.",

  doctor: (server: Found) =>
    `models: ${running(server)}; to use it, set ${server.variable}=${server.baseUrl}, or connect it on the page or in pawl chat`,

  othersNeedAccess: (models: number) =>
    `${plural(models, "other model")} ${models === 1 ? "needs" : "need"} a key or an address: /model and part of a name shows what to set.`,
  nothingFound:
    "Neither Ollama nor LM Studio responds on this machine. Start one of them and type /connect again, or start Pawl with a key such as OPENAI_API_KEY.",
  hasProvider: "A provider is connected already. /model lists its models.",
  several: (names: string) => `Several servers answer. Type /connect and one of these names: ${names}.`,
  needsVariable: ({ label, variable, baseUrl }: Found) =>
    `Only the operator can connect ${label}: restart the server with ${variable}=${baseUrl}.`,
  connected: (label: string, model: string) => `Connected ${label}. ${model} answers from now on.`,
  connectedEmpty: (label: string) =>
    `Connected ${label}. It has no model yet: download one there, then type /model again.`,
} as const
