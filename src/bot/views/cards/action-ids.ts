/** The action ids of cards and modals. A button's value is the request's id and nothing else. */
export const APPROVE = 'approve';
export const REJECT = 'reject';
export const EDIT = 'edit';
export const DETAILS = 'details';
export const WITHDRAW = 'withdraw';
/** The menu for what is seldom needed. Its block id is the request's id, its option values are action ids of this list. */
export const MORE = 'more';
/** Opens the modal that asks to type the target before a high-risk approval. */
export const APPROVE_TYPED = 'approve-typed';
/** Redoes a task with the edited text. Its value is the thread and the id of the edit. */
export const REDO = 'redo';
/** Asks for the reverse of an action that succeeded. */
export const UNDO = 'undo';
export const ASK_AGAIN = 'ask-again';
/** Withdraws what a requester waits for, so that what they wrote since is read. Its value is the thread and the id of their message. */
export const START_AGAIN = 'start-again';

/** The prefix of a choice, followed by its number, because action ids must differ within a block. */
export const CHOOSE = 'choose';
/** The menu of a question. Its block id is the request's id, its option value the number of the choice. */
export const CHOOSE_FROM_MENU = 'choose-from-menu';
/** Several choices, submitted by `SUBMIT_CHOICES` in the same block. */
export const CHOOSE_SEVERAL = 'choose-several';
export const SUBMIT_CHOICES = 'submit-choices';
/** Opens the modal that answers a question, by a menu or a written answer. */
export const ANSWER = 'answer';
export const FILL_IN = 'fill-in';
/** Gives a server that asks for input nothing. */
export const DECLINE = 'decline';
/** A link to an address that a server wants opened; the click says nothing. */
export const OPEN_LINK = 'open-link';
/** Shows the callback address to the requester, in private. */
export const SHOW_ADDRESS = 'show-address';

/** Opens the modal that connects the account a request waits for. */
export const CONNECT = 'connect';
/** The button with the link in that modal. */
export const OPEN_PAGE = 'open-page';

/** Counts for the end of a freeze. Its value is the id of the freeze and its scope. */
export const UNFREEZE = 'unfreeze';

/** The feedback buttons below a final answer. Their values are a word, the thread and the id of the answer. */
export const FEEDBACK = 'feedback';

/** Opens the modal that approves and pre-approves further calls. */
export const APPROVE_GRANT = 'approve-grant';
/** Opens the modal that approves with a comment. */
export const APPROVE_COMMENTED = 'approve-commented';
/** Approves the steps of a plan that were chosen. The digest of the plan that the card showed begins with what follows. */
export const APPROVE_CHOSEN = 'approve-chosen';
/** Opens the modal that chooses the steps of a plan. */
export const CHOOSE_STEPS = 'choose-steps';
/** The menus of a plan for one of its steps; the value of an option is the id of the step's request. */
export const EDIT_STEP = 'edit-step';
export const UNDO_STEP = 'undo-step';
/** Revokes a grant. Its value is the id of the grant. */
export const REVOKE = 'revoke-grant';

/** Ends a delegation. Its value is the person who gave it, and its id. */
export const END_DELEGATION = 'end-delegation';

export const RAN = 'ran';
export const DID_NOT_RUN = 'did-not-run';
export const RUN_AGAIN = 'run-again';

/** The page buttons of the full view; its metadata holds the current page. */
export const PREVIOUS_PAGE = 'previous-page';
export const NEXT_PAGE = 'next-page';
