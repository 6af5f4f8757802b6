/** Something about the settings that whoever wrote them can put right: told as a sentence, without a stack. */
export class SettingsError extends Error {
  override readonly name = "SettingsError"
}
