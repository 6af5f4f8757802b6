import { expect, test } from "vitest"
import { type Upload, UploadQueue } from "./upload-queue.ts"

/** Uploads that end when the test says so. */
function played() {
  const sent: { name: string; upload: Upload; end: PromiseWithResolvers<string> }[] = []
  const waits: number[] = []
  const queue = new UploadQueue<string>({
    send: (file, upload) => {
      const end = Promise.withResolvers<string>()
      sent.push({ name: file.name, upload, end })
      upload.signal.addEventListener("abort", () => end.reject(new Error("left out")), { once: true })
      return end.promise
    },
    wait: async (ms) => void waits.push(ms),
  })
  const begun: string[] = []
  const add = (name: string) => {
    const gone = new AbortController()
    const done = queue.upload(new File(["x"], name), {
      signal: gone.signal,
      onProgress: () => {},
      onBegin: () => begun.push(name),
    })
    done.catch(() => {})
    return { gone, done }
  }
  const at = (name: string) => sent.findLast((each) => each.name === name)!
  return { sent, waits, begun, add, at }
}

/** Waits for everything that follows immediately. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

test("three are uploaded at a time, the others in the order they came", async () => {
  const { begun, add, at } = played()
  const all = ["a", "b", "c", "d", "e"].map(add)
  await settled()
  expect(begun).toEqual(["a", "b", "c"])
  at("b").end.resolve("file_b")
  await all[1]!.done
  await settled()
  expect(begun).toEqual(["a", "b", "c", "d"])
  // A failed upload also frees its slot.
  at("a").end.reject(new Error("refused"))
  await expect(all[0]!.done).rejects.toThrow("refused")
  await settled()
  expect(begun).toEqual(["a", "b", "c", "d", "e"])
})

test("a removed file stops, makes room, and is never started if it was waiting", async () => {
  const { begun, add, at } = played()
  const [a, , , d, e] = ["a", "b", "c", "d", "e"].map(add)
  await settled()
  d!.gone.abort()
  await expect(d!.done).rejects.toThrow()
  a!.gone.abort()
  await expect(a!.done).rejects.toThrow("left out")
  await settled()
  expect(begun).toEqual(["a", "b", "c", "e"])
  at("e").end.resolve("file_e")
  expect(await e!.done).toBe("file_e")
  // No slot was lost: two are free next to b and c.
  for (const name of ["b", "c"]) at(name).end.resolve(name)
  for (const name of ["f", "g", "h", "i"]) add(name)
  await settled()
  expect(begun.slice(4)).toEqual(["f", "g", "h"])
})

test("where the server asks for patience it is tried again after so long, a few times", async () => {
  const { sent, waits, add, at } = played()
  const later = Object.assign(new Error("no room"), { retryAfterMs: 5000 })
  const a = add("a")
  await settled()
  at("a").end.reject(later)
  await settled()
  expect([sent.length, waits]).toEqual([2, [5000]])
  at("a").end.resolve("file_a")
  expect(await a.done).toBe("file_a")
  const b = add("b")
  for (let tries = 0; tries < 6; tries++) {
    await settled()
    at("b").end.reject(later)
  }
  await expect(b.done).rejects.toThrow("no room")
  expect(sent.filter(({ name }) => name === "b")).toHaveLength(6)
})
