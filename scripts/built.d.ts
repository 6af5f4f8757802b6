export function builtProgram(root: string): string | undefined
export function markOf(root: string): string
export function writeMark(root: string, mark: string): void
