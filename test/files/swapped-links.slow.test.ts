import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate as turn } from "node:timers/promises"
import { expect, test } from "vitest"
import { fileHash } from "../../packs/files/folder/folder.ts"
import { openFolder } from "../../packs/files/folder/local-folder.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { sizes } from "../support/sizes.ts"

test.skipIf(process.platform !== "linux")(
  "while another process swaps links in a tight loop, not one byte outside is read or written",
  { timeout: 180_000 },
  async () => {
    const base = dataFolder()
    const [root, outside] = [join(base, "work"), join(base, "outside")]
    for (const path of [root, outside]) mkdirSync(path)
    for (const name of ["file", "victim"]) writeFileSync(join(outside, name), "SECRET")
    const before = fingerprint(outside)
    const script = join(import.meta.dirname, "./link-swapper.ts")
    await using swapper = new PawlProcess([root, outside, String(sizes.swaps)], {}, { script })
    await swapper.says(/ready/)
    using folder = openFolder(root)
    const seen = new Map<string, number>()
    const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
    const attempt = (what: string, act: () => unknown) => {
      try {
        count(`${what}: ${String(act() ?? "done")}`)
      } catch (error) {
        count(`${what} refused${/outside/.test((error as Error).message) ? " as outside" : ""}`)
      }
    }
    // Both outcomes of the race must occur, or the test shows nothing.
    const wanted = ["read: inside", "read refused as outside", "write: done", "write refused as outside"]
    let hasSwapped = false
    const swapped = swapper.says(/done/).then(() => (hasSwapped = true))
    for (let round = 0; !hasSwapped || !wanted.every((what) => seen.has(what)); round++) {
      for (let again = 0; again < 20; again++) {
        attempt("read", () => folder.read("d/file", 1000).bytes.toString())
        attempt("read file", () => folder.read("f", 1000).bytes.toString())
        attempt("list", () =>
          folder
            .list("d", 10)
            .entries.map(({ name }) => name)
            .includes("victim"),
        )
        attempt("write", () => folder.write(`d/new-${round}-${again}`, Buffer.from("x"), { expect: "absent" }))
        attempt("remove", () => folder.remove(`d/new-${round}-${again}`, fileHash(Buffer.from("x"))))
        attempt("make", () => folder.makeDirectory(`d/dir-${round}`))
        attempt("remove directory", () => folder.removeDirectory(`d/dir-${round}`))
        attempt("overwrite", () =>
          folder.write("d/victim", Buffer.from("x"), { expect: fileHash(Buffer.from("SECRET")) }),
        )
      }
      await turn()
    }
    await swapped
    await swapper.kill("SIGKILL")
    expect(fingerprint(outside)).toBe(before)
    const said = [...seen.keys()]
    expect(said.filter((what) => /SECRET|list: true|overwrite: done/.test(what))).toEqual([])
  },
)

function fingerprint(path: string): string {
  const names = readdirSync(path, { recursive: true, encoding: "utf8" }).sort()
  const hash = createHash("sha256")
  for (const name of names) hash.update(`${name}\0${readFileSync(join(path, name), "utf8")}\0`)
  return hash.digest("hex")
}
