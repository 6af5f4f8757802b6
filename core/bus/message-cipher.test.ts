import { expect, test } from "vitest"
import { createSecretKey } from "node:crypto"
import { type BusKey, type BusKeys, MAX_OVERHEAD, MessageCipher } from "./message-cipher.ts"

const keyOf = (fill: string): BusKey => ({ id: fill.repeat(16), key: createSecretKey(Buffer.alloc(32, fill)) })
const [OLD, NEW] = [keyOf("a"), keyOf("b")]
const keysOf = (current: BusKey, ...others: readonly BusKey[]): BusKeys => ({
  current: async () => current,
  all: async () => [current, ...others],
})

async function cipherOf(self: string, { keys = keysOf(OLD), cluster = "main" } = {}): Promise<MessageCipher> {
  const cipher = new MessageCipher(keys, { cluster, self })
  await cipher.refresh()
  return cipher
}

test("a message opens once, for its recipient, and hides its text", async () => {
  const [one, two] = [await cipherOf("node_a"), await cipherOf("node_b")]
  const text = "Buy milk ☃"
  const message = one.encrypt("pawl.main.node.node_b", text)
  expect(message.includes("milk")).toBe(false)
  expect(message.length - Buffer.byteLength(text)).toBeLessThan(MAX_OVERHEAD)
  expect(two.open("pawl.main.node.node_b", message)).toEqual({ text })
  expect(two.open("pawl.main.node.node_b", message)).toEqual({ refused: "replayed", sender: "node_a" })
})

test("a message opens for no other recipient, in no other cluster and under no other key", async () => {
  const one = await cipherOf("node_a")
  const message = one.encrypt("pawl.main.mail.node_b", "Hello")
  const two = await cipherOf("node_b")
  for (const subject of ["pawl.main.node.node_b", "pawl.main.mail.node_c", "pawl.main.all"])
    expect(two.open(subject, message)).toEqual({ refused: "forged", sender: "node_a" })
  const elsewhere = await cipherOf("node_b", { cluster: "other" })
  expect(elsewhere.open("pawl.main.mail.node_b", message)).toEqual({ refused: "forged", sender: "node_a" })
  const stranger = await cipherOf("node_b", { keys: keysOf(NEW) })
  expect(stranger.open("pawl.main.mail.node_b", message)).toEqual({ refused: "another key", sender: "node_a" })
})

test("no byte of a message can be changed, left out or added", async () => {
  const [one, two] = [await cipherOf("node_a"), await cipherOf("node_b")]
  const message = one.encrypt("to", "Hello")
  for (let at = 0; at < message.length; at++) {
    for (const bit of [1, 32]) {
      const changed = Buffer.from(message)
      changed[at]! ^= bit
      expect(two.open("to", changed), `byte ${at}`).toHaveProperty("refused")
    }
    expect(two.open("to", message.subarray(0, at))).toHaveProperty("refused")
  }
  expect(two.open("to", Buffer.concat([message, Buffer.from([0])]))).toHaveProperty("refused")
  expect(two.open("to", message)).toEqual({ text: "Hello" }) // what was forged did not use up its counter
})

test("messages may arrive slightly out of order, and none is accepted twice or too late", async () => {
  const [one, two] = [await cipherOf("node_a"), await cipherOf("node_b")]
  const messages = Array.from({ length: 600 }, (_, n) => one.encrypt("to", String(n)))
  const open = (n: number) => two.open("to", messages[n]!)
  for (const n of [0, 3, 1, 2, 400]) expect(open(n)).toEqual({ text: String(n) })
  for (const n of [0, 3, 400]) expect(open(n)).toEqual({ refused: "replayed", sender: "node_a" })
  expect(open(399)).toEqual({ text: "399" })
  expect(open(10)).toEqual({ refused: "replayed", sender: "node_a" }) // its place in the window is another's by now
})

test("a node that restarts with its previous name repeats no nonce and is understood", async () => {
  const two = await cipherOf("node_b")
  const [first, second] = [await cipherOf("node_a"), await cipherOf("node_a")]
  const [before, after] = [first.encrypt("to", "same"), second.encrypt("to", "same")]
  expect(before.subarray(-21)).not.toEqual(after.subarray(-21))
  expect([two.open("to", before), two.open("to", after)]).toEqual([{ text: "same" }, { text: "same" }])
})

test("a node that has just started accepts no broadcast that was recorded before", async () => {
  const one = await cipherOf("node_a")
  const all = (text: string) => one.encrypt("all", text)
  const recorded = all("recorded")
  const two = await cipherOf("node_b")
  const unmet = { unmet: true, sender: "node_a" }
  expect(two.open("all", recorded, "broadcast")).toEqual(unmet)
  expect(two.open("all", all("not met yet"), "broadcast")).toEqual(unmet)
  // Only a sender that runs now can write to the name that this process drew when it started.
  expect(two.open("node_b", one.encrypt("node_b", "met"))).toEqual({ text: "met" })
  const after = all("after")
  expect(two.open("all", after, "broadcast")).toEqual({ text: "after" })
  expect(two.open("all", after, "broadcast")).toEqual({ refused: "replayed", sender: "node_a" })
  expect(two.open("all", recorded, "broadcast")).toEqual(unmet)
})

test("a recorded receipt does not vouch for a sender that runs now", async () => {
  const one = await cipherOf("node_a")
  const [receipt, recorded] = [one.encrypt("receipt", "hash"), one.encrypt("all", "recorded")]
  const two = await cipherOf("node_b")
  expect(two.open("receipt", receipt, "receipt")).toEqual({ text: "hash" })
  expect(two.open("all", recorded, "broadcast")).toEqual({ unmet: true, sender: "node_a" })
})

test("while keys are rotated each node reads what the others write, and the old key ends with it", async () => {
  let current = OLD
  const both: BusKeys = { current: async () => current, all: async () => [NEW, OLD] }
  const [one, two] = [await cipherOf("node_a", { keys: both }), await cipherOf("node_b", { keys: both })]
  const old = await cipherOf("node_c")
  expect(old.open("to", one.encrypt("to", "before"))).toEqual({ text: "before" })
  current = NEW
  await one.refresh() // the other node has not looked yet
  expect(two.open("to", one.encrypt("to", "after"))).toEqual({ text: "after" })
  expect(one.open("to", two.encrypt("to", "still"))).toEqual({ text: "still" })
  const fresh = await cipherOf("node_d", { keys: keysOf(NEW) })
  expect(fresh.open("to", one.encrypt("to", "new"))).toEqual({ text: "new" })
  expect(fresh.open("to", old.encrypt("to", "late"))).toEqual({ refused: "another key", sender: "node_c" })
})

test("a message of a node without encryption is reported as such, and anything else is refused without an exception", async () => {
  const two = await cipherOf("node_b")
  const unencrypted = Buffer.from('{"from":"node_old","words":[]}')
  expect(two.open("to", unencrypted)).toEqual({ refused: "not encrypted", sender: "node_old" })
  for (const text of ["", "\n", "pawl1", `pawl1 ${OLD.id} node_a ${"0".repeat(32)} 1\n`, "x".repeat(100_000), "\0\xff"])
    expect(two.open("to", Buffer.from(text, "latin1"))).toMatchObject({ refused: "forged" })
})
