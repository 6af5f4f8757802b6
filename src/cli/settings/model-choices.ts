import { anyText, listOfItems } from "./kinds.ts"
import { setting } from "./setting.ts"

/** Which models are asked beside the one that is chosen. */
export const modelChoices = {
  PAWL_FALLBACK_MODELS: setting(
    listOfItems((name) => name.length <= 200, "names of models, split by commas"),
    {
      says: "Who answers, in this order, where a conversation's model is out of reach, overloaded or out of quota. An agent or a conversation may say otherwise.",
      usually: [],
    },
  ),
  PAWL_TITLE_MODEL: setting(anyText, {
    says: "A small model that is asked once for the title of a conversation, after its first answer. It reads the first question and its answer.",
    usuallyInWords: "none is asked: the title is the first words",
  }),
}
