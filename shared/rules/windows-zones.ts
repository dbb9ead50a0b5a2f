// Time zones as Windows names them, and so Outlook, Exchange and Dynamics (the table `windowsZones` of CLDR).

/** `name = zone`, by the name without its `Standard Time`. */
const ZONES = `
  AUS Central = Australia/Darwin; AUS Eastern = Australia/Sydney; Afghanistan = Asia/Kabul; Alaskan = America/Anchorage;
  Aleutian = America/Adak; Altai = Asia/Barnaul; Arab = Asia/Riyadh; Arabian = Asia/Dubai; Arabic = Asia/Baghdad;
  Argentina = America/Argentina/Buenos_Aires; Astrakhan = Europe/Astrakhan; Atlantic = America/Halifax;
  Aus Central W. = Australia/Eucla; Azerbaijan = Asia/Baku; Azores = Atlantic/Azores; Bahia = America/Bahia;
  Bangladesh = Asia/Dhaka; Belarus = Europe/Minsk; Canada Central = America/Regina; Cape Verde = Atlantic/Cape_Verde;
  Caucasus = Asia/Yerevan; Cen. Australia = Australia/Adelaide; Central America = America/Guatemala;
  Central Asia = Asia/Almaty; Central Brazilian = America/Cuiaba; Central Europe = Europe/Budapest;
  Central European = Europe/Warsaw; Central Pacific = Pacific/Guadalcanal; Central = America/Chicago;
  Central (Mexico) = America/Mexico_City; China = Asia/Shanghai; Cuba = America/Havana; E. Africa = Africa/Nairobi;
  E. Australia = Australia/Brisbane; E. Europe = Europe/Chisinau; E. South America = America/Sao_Paulo;
  Eastern = America/New_York; Eastern (Mexico) = America/Cancun; Egypt = Africa/Cairo; Ekaterinburg = Asia/Yekaterinburg;
  FLE = Europe/Kyiv; Fiji = Pacific/Fiji; GMT = Europe/London; GTB = Europe/Bucharest; Georgian = Asia/Tbilisi;
  Greenland = America/Nuuk; Greenwich = Atlantic/Reykjavik; Haiti = America/Port-au-Prince; Hawaiian = Pacific/Honolulu;
  India = Asia/Kolkata; Iran = Asia/Tehran; Israel = Asia/Jerusalem; Jordan = Asia/Amman; Kaliningrad = Europe/Kaliningrad;
  Korea = Asia/Seoul; Libya = Africa/Tripoli; Magallanes = America/Punta_Arenas; Mauritius = Indian/Mauritius;
  Middle East = Asia/Beirut; Montevideo = America/Montevideo; Morocco = Africa/Casablanca; Mountain = America/Denver;
  Mountain (Mexico) = America/Mazatlan; Myanmar = Asia/Yangon; N. Central Asia = Asia/Novosibirsk;
  Namibia = Africa/Windhoek; Nepal = Asia/Kathmandu; New Zealand = Pacific/Auckland; Newfoundland = America/St_Johns;
  North Asia East = Asia/Irkutsk; North Asia = Asia/Krasnoyarsk; Omsk = Asia/Omsk; Pacific SA = America/Santiago;
  Pacific = America/Los_Angeles; Pacific (Mexico) = America/Tijuana; Pakistan = Asia/Karachi; Paraguay = America/Asuncion;
  Romance = Europe/Paris; Russia Time Zone 3 = Europe/Samara; Russian = Europe/Moscow; SA Eastern = America/Cayenne;
  SA Pacific = America/Bogota; SA Western = America/La_Paz; SE Asia = Asia/Bangkok; Samoa = Pacific/Apia;
  Saratov = Europe/Saratov; Singapore = Asia/Singapore; South Africa = Africa/Johannesburg; Sri Lanka = Asia/Colombo;
  Sudan = Africa/Khartoum; Syria = Asia/Damascus; Taipei = Asia/Taipei; Tasmania = Australia/Hobart; Tokyo = Asia/Tokyo;
  Tomsk = Asia/Tomsk; Tonga = Pacific/Tongatapu; Transbaikal = Asia/Chita; Turkey = Europe/Istanbul;
  US Eastern = America/Indiana/Indianapolis; US Mountain = America/Phoenix; Ulaanbaatar = Asia/Ulaanbaatar;
  Venezuela = America/Caracas; Vladivostok = Asia/Vladivostok; Volgograd = Europe/Volgograd; W. Australia = Australia/Perth;
  W. Central Africa = Africa/Lagos; W. Europe = Europe/Berlin; W. Mongolia = Asia/Hovd; West Asia = Asia/Tashkent;
  West Bank = Asia/Hebron; West Pacific = Pacific/Port_Moresby; Yakutsk = Asia/Yakutsk; Yukon = America/Whitehorse
`;

let zones: Map<string, string> | undefined;

/** The IANA name of `W. Europe Standard Time`. */
export function zoneOfWindows(written: string): string | undefined {
  const name = /^(.+) (?:Standard|Daylight) Time( \(Mexico\))?$/.exec(written);
  if (!name) return undefined;
  zones ??= new Map(
    ZONES.split(";").map((line) => {
      const [of = "", zone = ""] = line.split(" = ");
      return [of.trim(), zone.trim()];
    }),
  );
  return zones.get(`${name[1]}${name[2] ?? ""}`);
}
