import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { BusOrder, BusSeen } from "../nodes/bus-node.ts"
import { startNats } from "../nodes/nats.ts"
import { median, type Numbers } from "../meters.ts"
import type { Sizes } from "../sizes.ts"

/**
 * W11: what each delta costs in CPU time at both nodes where the watchers are at another node than the run, beyond what it
 * costs where they are at the same one. One run for each watcher, each with a delta every `everyMs`: the least that can be shared.
 */
export async function watchOnOtherNode(sizes: Sizes["w11"]): Promise<Numbers> {
  await using nats = await startNats()
  await using a = await openNode(nats.url, "a", sizes)
  await using b = await openNode(nats.url, "b", sizes)
  for (const node of [a, b]) await node.ask({ type: "meet" })
  const spent = { local: [] as number[], writer: [] as number[], watcher: [] as number[] }
  for (let pass = -1; pass < sizes.passes; pass++) {
    const local = await passOf(a, a, b, sizes)
    const apart = await passOf(a, b, b, sizes)
    if (pass < 0) continue // warm
    spent.local.push(local.writer)
    spent.writer.push(apart.writer)
    spent.watcher.push(apart.other)
  }
  const localUs = median(spent.local)
  const [writerUs, watcherUs] = [median(spent.writer), median(spent.watcher)]
  return { localUs, writerUs, watcherUs, beyondAtWriterUs: writerUs - localUs, beyondAtWatcherUs: watcherUs - localUs }
}

/** CPU time per delta, in microseconds, of the writer and of the other node. */
async function passOf(writer: BusNode, watcher: BusNode, other: BusNode, { deltas, everyMs, watchers }: Sizes["w11"]) {
  await watcher.ask({ type: "watch" })
  // By then the writer knows the watchers.
  await new Promise((resolve) => setTimeout(resolve, 500))
  for (const node of new Set([writer, other])) await node.ask({ type: "since" })
  await writer.ask({ type: "write", deltas, everyMs })
  await watcher.ask({ type: "seen", deltas })
  const us = async (node: BusNode) => ((await node.ask({ type: "cpu" })).cpuMs ?? Number.NaN) / (deltas * watchers)
  const spent = { writer: (await us(writer)) * 1000, other: (await us(other)) * 1000 }
  await watcher.ask({ type: "leave" })
  return spent
}

interface BusNode extends AsyncDisposable {
  ask(order: BusOrder): Promise<BusSeen>
}

async function openNode(url: string, name: string, { watchers }: Sizes["w11"]): Promise<BusNode> {
  const script = join(import.meta.dirname, "..", "nodes", "bus-node.ts")
  const child: ChildProcess = fork(script, [url, name, String(watchers)])
  const ended = once(child, "exit")
  const answer = async () => ((await Promise.race([once(child, "message"), ended.then(gone)])) as [BusSeen])[0]
  await answer()
  return {
    ask(order) {
      const answered = answer()
      child.send(order)
      return answered
    },
    async [Symbol.asyncDispose]() {
      child.disconnect()
      await ended
    },
  }
}

function gone(): never {
  throw new Error("a node of W11 has ended")
}
