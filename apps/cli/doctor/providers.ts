import { readFileSync } from "node:fs"
import type { ProbedProvider } from "../../../core/models/discovery/probe.ts"
import type { PersonalModels } from "../../../core/models/personal-models.ts"
import type { ModelRegistry } from "../../../core/models/registry.ts"
import { connectText } from "../../strings/connect.ts"
import { doctorText } from "../../strings/doctor.ts"
import type { Finding } from "./machine.ts"

const TIMEOUT_MS = 5000

/** Whether the configured providers accept their keys: each is asked for its list of models, which costs nothing. */
export async function* examineProviders(models: Pick<ModelRegistry, "look" | "probe">): AsyncGenerator<Finding> {
  const began = performance.now()
  const [{ endpoints }, probed] = await Promise.all([
    models.look({ refresh: true, waitMs: TIMEOUT_MS }),
    models.probe(AbortSignal.timeout(TIMEOUT_MS)),
  ])
  const ms = Math.round(performance.now() - began)
  for (const { provider, state, models: known, problem } of endpoints) {
    if (state === "answered") yield ["ok", doctorText.providerListed(provider, known, ms)]
    if (state === "failed") yield ["wrong", doctorText.providerFailed(provider, problem)]
    if (state === "asking" || state === "unasked")
      yield ["wrong", doctorText.providerSilent(provider, TIMEOUT_MS / 1000)]
  }
  yield* probed.map((each) => toFinding(each, ms))
}

/** Model servers on this machine that could be connected, if no provider is. */
export async function* examineLocalServers(models: Pick<PersonalModels, "findLocalServers">): AsyncGenerator<Finding> {
  const servers = await models.findLocalServers()
  yield* servers.map((server): Finding => ["note", connectText.doctor(server)])
}

function toFinding({ provider, outcome, problem }: ProbedProvider, ms: number): Finding {
  switch (outcome) {
    case "answers":
      return ["ok", doctorText.providerAnswers(provider, ms)]
    case "no list":
      return ["note", doctorText.providerNoList(provider)]
    case "unasked":
      return ["note", doctorText.providerUnasked(provider)]
    case "failed":
      return ["wrong", doctorText.providerFailed(provider, problem)]
  }
}

const GIGABYTE = 2 ** 30
/** On x86_64 1.4 GB for the process and 0.6 for each of up to ten threads; on arm64 1 GB and 0.4. */
const ENOUGH_BYTES = 8 * GIGABYTE
/** The names in /proc/self/limits, and those in a shell. */
const BOUNDS = { "Max address space": "ulimit -v", "Max data size": "ulimit -d" }

/**
 * Checks that Node may reserve enough address space. It never uses most of it, but if a thread cannot reserve its part,
 * the whole process ends. Silent if the system has no such limits.
 */
export function* examineReservations(limits = readLimits()): Generator<Finding> {
  for (const [name, flag] of Object.entries(BOUNDS)) {
    const line = limits.split("\n").find((each) => each.startsWith(name))
    // "unlimited" becomes NaN, which is not less than anything.
    const bytes = Number(line?.slice(name.length).trim().split(" ")[0])
    if (bytes < ENOUGH_BYTES) yield ["note", doctorText.littleMemory((bytes / GIGABYTE).toFixed(1), flag)]
  }
}

function readLimits(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8")
  } catch {
    return "" // another system than Linux
  }
}
