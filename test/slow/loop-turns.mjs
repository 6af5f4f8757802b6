/**
 * Preloaded by a server under test: remembers how much of the processor its own thread has used between two looks, five
 * milliseconds apart. That is how long its loop stands still on a machine that has nothing else to do, whatever else this one does.
 */
let longest = 0
let asked = 0
let before = process.threadCpuUsage()
setInterval(() => {
  const { user, system } = process.threadCpuUsage(before)
  longest = Math.max(longest, (user + system) / 1000)
  before = process.threadCpuUsage()
}, 5).unref()
process.on("SIGUSR2", () => {
  process.stdout.write(`longest turn ${++asked}: ${longest.toFixed(1)} ms\n`)
  longest = 0
})
