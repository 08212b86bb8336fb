/** The ids of everything on a card or in a modal that can be clicked; a button's value is the request's id and nothing else. */
export const APPROVE = 'approve';
export const REJECT = 'reject';
export const EDIT = 'edit';
export const DETAILS = 'details';
export const WITHDRAW = 'withdraw';
export const ASK_AGAIN = 'ask-again';

/** A choice's action is this and its number: action ids must differ within a block. */
export const CHOOSE = 'choose';
/** The menu of a question; its block's id is the request's, its option's value the number of the choice. */
export const CHOOSE_FROM_MENU = 'choose-from-menu';
/** Several choices, taken when `SUBMIT_CHOICES` is clicked in the same block. */
export const CHOOSE_SEVERAL = 'choose-several';
export const SUBMIT_CHOICES = 'submit-choices';
/** Opens the modal in which a question is answered, with the menu or in one's own words. */
export const ANSWER = 'answer';
export const FILL_IN = 'fill-in';
/** Tells the requester, in private, where an outside system reports back. */
export const SHOW_ADDRESS = 'show-address';

export const RAN = 'ran';
export const DID_NOT_RUN = 'did-not-run';
export const RUN_AGAIN = 'run-again';

/** Within the full view; the page that is shown stands in the view's metadata. */
export const PREVIOUS_PAGE = 'previous-page';
export const NEXT_PAGE = 'next-page';
