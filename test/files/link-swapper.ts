import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/**
 * Swaps a directory and a file of a folder for links that lead out of it, and back, as fast as it can. Prints `done` after this
 * many swaps, and continues until it is killed.
 */
const [root = "", outside = "", swaps = "0"] = process.argv.slice(2)
const at = (name: string) => join(root, name)

mkdirSync(at("real"), { recursive: true })
writeFileSync(at("real/file"), "inside")
writeFileSync(at("real-file"), "inside")
symlinkSync(outside, at("lie"))
symlinkSync(join(outside, "file"), at("lie-file"))
process.stdout.write("ready\n")
for (let swap = 0; ; swap++) {
  if (swap === Number(swaps)) process.stdout.write("done\n")
  const [directory, file] = swap % 2 === 0 ? (["real", "real-file"] as const) : (["lie", "lie-file"] as const)
  renameSync(at(directory), at("d"))
  // A writer may have replaced this file by another, which is swapped along.
  if (swap % 4 < 2) renameSync(at(file), at("f"))
  renameSync(at("d"), at(directory))
  if (swap % 4 < 2) renameSync(at("f"), at(file))
}
