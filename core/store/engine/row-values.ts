export const toTime = (milliseconds: number): string => new Date(milliseconds).toISOString()

export const toDollars = (micros: number | null): number | null => (micros === null ? null : micros / 1_000_000)
