/** Numbers from 0 up to 1 that look like chance and are the same for the same seed (a linear congruential generator). */
export function dice(seed: number): () => number {
  const modulus = 2 ** 31 - 1
  let state = (Math.abs(Math.floor(seed)) % (modulus - 1)) + 1
  const next = () => (state = (state * 48_271) % modulus) / modulus
  // Seeds that lie side by side begin side by side.
  for (let i = 0; i < 8; i++) next()
  return next
}
