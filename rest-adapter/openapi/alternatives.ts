/**
 * Other content than that of a response, or, at the end of the document, than that of all errors: what is answered only
 * to those who ask for it, by `Accept` or by a parameter. Typed clients take whatever `content` lists for what may come
 * of any call. Were this there, no caller could read `error.error.message`, or a member of a result, without having
 * ruled the other out first.
 */
export const ON_REQUEST = 'x-content-on-request';
