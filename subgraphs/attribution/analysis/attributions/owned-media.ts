/**
 * Names of owned media: GA4's default channel groups Email, SMS and Mobile Push Notifications, and what shops call them
 * besides. What they cost is postage, which says nothing of what they bring.
 */
const OWNED = /(?<![a-z])(e-?mails?|newsletters?|sms|mms|text[_ -]?messages?|push|crm|whatsapp)(?![a-z])/i;

/** Whether a channel reaches people whom the shop knows, so that its cost is no bid for their attention. */
export const isOwnedMedia = (channel: string): boolean => OWNED.test(channel);
