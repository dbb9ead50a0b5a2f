// Images for experiences: upload, address, delete.
import { useRef, useState } from "preact/hooks";
import type { Asset } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { bytes } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { Confirm, Time } from "../../components/page.tsx";
import { Pager, pageNumber } from "../../components/pager.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

const PAGE_SIZE = 50;
const STALE = ["assets."];
const TYPES = "image/png,image/jpeg,image/gif,image/webp";

export function Assets() {
  const assets = useQuery("assets.list", [{ page: pageNumber(), page_size: PAGE_SIZE }]);
  const upload = useAction("assets.create", { stale: STALE });
  const remove = useAction("assets.delete", { stale: STALE });
  const [leaving, setLeaving] = useState<Asset>();
  const input = useRef<HTMLInputElement>(null);
  const send = async (file: File) => {
    const form = new FormData();
    form.set("file", file, file.name);
    if (await upload.run(form)) say(`${file.name} is uploaded.`);
  };
  const add = (
    <Button
      kind="primary"
      icon="plus"
      needs="assets.create"
      isBusy={upload.isBusy}
      onClick={() => input.current?.click()}
    >
      Upload an image
    </Button>
  );
  const error = upload.error ?? remove.error;
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={TYPES}
        aria-label="Image"
        hidden
        onInput={(event) => {
          const [file] = event.currentTarget.files ?? [];
          event.currentTarget.value = "";
          if (file) void send(file);
        }}
      />
      {error && <Failure error={error} />}
      <Loaded query={assets} skeleton={<Skeleton table rows={4} />}>
        {({ items, total }) =>
          items.length === 0 ? (
            <Empty title="There are no images yet." action={add}>
              A png, jpeg, gif or webp of at most 4 MB gets a public address for experiences.
            </Empty>
          ) : (
            <>
              <div class="filters">{add}</div>
              <Table
                caption="Images"
                rows={items}
                keyOf={({ id }) => id}
                columns={[
                  { title: "Name", cell: ({ filename }: Asset) => <b>{filename}</b> },
                  { title: "Type", cell: ({ content_type }: Asset) => <span class="dim">{content_type}</span> },
                  {
                    title: "Size",
                    isNumber: true,
                    cell: ({ size_bytes }: Asset) => bytes(size_bytes),
                  },
                  {
                    title: "URL",
                    cell: ({ url, filename }: Asset) => (
                      <a href={url} target="_blank" rel="noreferrer" aria-label={`Open ${filename}`}>
                        <div class="clip">{url}</div>
                      </a>
                    ),
                  },
                  { title: "Uploaded", cell: ({ created_at }: Asset) => <Time at={created_at} /> },
                  {
                    title: "",
                    cell: (asset: Asset) => (
                      <div class="actions end">
                        <Button
                          kind="quiet"
                          icon="trash"
                          label={`Delete ${asset.filename}`}
                          needs="assets.delete"
                          onClick={() => setLeaving(asset)}
                        />
                      </div>
                    ),
                  },
                ]}
              />
              <Pager total={total} size={PAGE_SIZE} what="image" />
            </>
          )
        }
      </Loaded>
      {leaving && (
        <Confirm
          title="Delete this image?"
          name={leaving.filename}
          act="Delete the image"
          isBusy={remove.isBusy}
          close={() => setLeaving(undefined)}
          onConfirm={async () => {
            const done = await remove.run(leaving.id);
            setLeaving(undefined);
            if (done) say(`${leaving.filename} is deleted.`);
          }}
        >
          Experiences that show it show a gap.
        </Confirm>
      )}
    </>
  );
}
