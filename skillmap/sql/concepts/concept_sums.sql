-- One row per encoder, benchmark and latent that is active on an encoded item: what
-- the items add up to. S1 and S2 are sums of the saliency and its square; clusters are
-- groups of near duplicates, and items without a twin stand alone.

with by_cluster as (
    select
        item_concepts.encoder_id,
        item_concepts.benchmark_id,
        item_concepts.latent_index,
        coalesce(item_groups.group_id, item_concepts.item_id) as cluster_id,
        count(*) as n_items,
        sum(item_concepts.n_active_tokens) as n_tokens,
        sum(item_concepts.mean_activation::double) as w,
        sum(item_concepts.mean_activation::double ** 2) as w2,
        max(item_concepts.max_activation::double) as max_activation
    from core.item_concepts as item_concepts
    inner join core.item_encodings as item_encodings
        using (encoder_id, benchmark_id, item_id)
    left join core.item_groups as item_groups
        on
            item_concepts.item_id = item_groups.item_id
            and item_groups.kind = 'near'
    where item_encodings.status = 'encoded'
    group by all
)

select
    encoder_id,
    benchmark_id,
    latent_index,
    sum(n_items)::bigint as n_active_items,
    count(*) as n_active_clusters,
    sum(n_tokens)::bigint as n_active_tokens,
    sum(w) as s1,
    sum(w2) as s2,
    sum(w ** 2) as cluster_s2,
    max(max_activation) as max_activation
from by_cluster
group by encoder_id, benchmark_id, latent_index
order by encoder_id, benchmark_id, latent_index
