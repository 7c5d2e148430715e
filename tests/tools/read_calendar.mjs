// ical.js, the library of Thunderbird, reads a calendar as a stranger would. Tells as JSON every
// occurrence between two UTC times. Arguments: folder of node_modules, the file, the two times.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, file, from, to] = process.argv.slice(2);
const { default: ICAL } = await import(
  pathToFileURL(`${folder}/node_modules/ical.js/dist/ical.js`).href
);
const calendar = new ICAL.Component(ICAL.parse(readFileSync(file, "utf8")));
for (const zone of calendar.getAllSubcomponents("vtimezone")) ICAL.TimezoneService.register(zone);

const kept = calendar
  .getAllSubcomponents("vevent")
  .filter((one) => one.getFirstPropertyValue("status") !== "CANCELLED");
const rows = kept.map((one) => new ICAL.Event(one));
const masters = rows.filter((event) => !event.isRecurrenceException());
for (const event of rows.filter((one) => one.isRecurrenceException()))
  masters.find((master) => master.uid === event.uid)?.relateException(event);

const found = [];
function tell(event, start, end) {
  const times = [start, end].map((time) => time.toJSDate().toISOString());
  if (times[0] < to && times[1] > from)
    found.push({ title: event.summary, start: times[0], end: times[1], all_day: start.isDate });
}
for (const event of masters) {
  if (!event.isRecurring()) tell(event, event.startDate, event.endDate);
  else {
    const occurrences = event.iterator();
    for (let at = occurrences.next(); at; at = occurrences.next()) {
      if (at.toJSDate().toISOString() >= to) break;
      const { item, startDate, endDate } = event.getOccurrenceDetails(at);
      tell(item, startDate, endDate);
    }
  }
}
found.sort((a, b) => (a.start < b.start ? -1 : 1));
process.stdout.write(JSON.stringify(found));
