/** The provider's reply in the `at`-th conversation: always the same, and different from the others. */
export function longReply(at: number, characters: number): string {
  const words: string[] = []
  for (let [length, i] = [0, 0]; length < characters; i++) {
    const word = i % 40 === 39 ? `line ${at}.${i}\n` : `word${(i * 7919 + at) % 10_007} `
    words.push(word)
    length += word.length
  }
  return words.join("").slice(0, characters)
}

/** The user's message that requests the reply of this number. */
export const asksFor = (at: number): string => `Reply number ${at}, please.`
/** The same, for a request that creates a task. */
export const asksTask = (at: number): string => `Create the task number ${at}, please.`
export const asksForTask = (text: string): boolean => text.includes("Create the task number")
export const taskNumberOf = (text: string): number => Number(/number (\d+)/.exec(text)?.[1] ?? Number.NaN)
