import { escapeHidden } from "../text/hidden-characters.ts"

/** Whether a model can be called this. One that hides characters would be taken for another in a menu. */
export const isModelId = (id: string): boolean => /^[^\s\p{Cc}]{1,200}$/u.test(id) && escapeHidden(id) === id
