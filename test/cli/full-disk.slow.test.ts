import { spawnSync } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test, vi } from "vitest"
import { launcher } from "../support/processes/package.ts"

vi.setConfig({ testTimeout: 120_000 })

/** Mounts a small disk that only the commands of one script see, so no real disk is filled. */
const onSmallDisk = (script: string, given: readonly string[]) =>
  spawnSync("unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script, ...given], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: tmpdir() },
  })

const hasSmallDisk = onSmallDisk('mount -t tmpfs -o size=1m tmpfs "$0"', [tmpdir()]).status === 0

const SCRIPT = `
data=$0 node=$1 launcher=$2
mount -t tmpfs -o size=3m tmpfs "$data"
export PAWL_DATA="$data" PAWL_PORT=0 PAWL_LOG=off
"$node" "$launcher" serve > "$data.log" 2>&1 &
until grep -q listening "$data.log"; do sleep 0.1; done
cat /dev/zero > "$data/filler" 2>/dev/null
kill -9 $!
wait
cat /dev/zero >> "$data/filler" 2>/dev/null
for command in "exec hello" "token create --user bob" "rotate-keys" "serve"; do
  echo "== $command"
  timeout -s KILL 8 "$node" "$launcher" $command 2>&1
  echo "-> $?"
done
rm "$data/filler"
echo "== with room again"
"$node" "$launcher" token create --user bob 2>&1
`

test.skipIf(!hasSmallDisk)("after kill -9 on a full disk each command reports that it ended, and why", () => {
  const data = mkdtempSync(join(tmpdir(), inject("testRun"), "data-"))
  const { stdout } = onSmallDisk(SCRIPT, [data, process.execPath, launcher])
  const [, ...said] = stdout.split(/^== /m)
  const outputs = said.slice(0, -1).map((text) => text.slice(text.indexOf("\n") + 1))
  expect(outputs).toHaveLength(4)
  // A server may start, because its write-ahead log has room that is reused.
  for (const output of outputs) {
    expect(output).toMatch(
      /listening on|^pawl: The disk is full, so nothing can be written\. What is stored is safe\. Free some space on the disk, then run this again\./,
    )
    expect(output).not.toMatch(/by itself|\n\s+at /)
  }
  for (const output of outputs.slice(0, 3)) expect(output).toMatch(/-> [13]\n$/)
  expect(said.at(-1)).toMatch(/\npawl_[\w-]+\n$/)
})
