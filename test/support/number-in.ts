/**
 * The number that a variable of the environment gives, if any; an empty one gives none, as a form left blank does. What is no
 * whole number above zero stops the tests: they would try nothing at all, and be green.
 */
export function numberIn(variable: string, environment: NodeJS.ProcessEnv = process.env): number | undefined {
  const given = environment[variable]?.trim()
  if (!given) return undefined
  const number = Number(given)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new Error(`${variable}="${given}" is no whole number above zero`)
}
